import { withinTime } from '../../foundation/concurrency/within-time.ts'
import { RootError } from '../../foundation/errors.ts'
import type { MirrorRow } from '../../store/tables/mirrors.ts'
import { awaitAnswer } from '../files/nearest-directory.ts'
import { listRoster, type RosterEntry } from '../mirrors/mirror-roster.ts'
import type { DoctorContext } from './doctor-context.ts'
import { given } from './unchecked.ts'

/** Lists all mirrors, from the configuration alone if the store is unusable; throws RootError for a dead mount. */
export async function rosterOf(context: DoctorContext): Promise<RosterEntry[]> {
  const settings = await given(context.settings(), 'configuration')
  const known = await knownMirrors(context)
  for (const { path } of [...settings.mirrors, ...known]) await assertAnswering(path, context.limitMs)
  return listRoster(settings, known)
}

/** Mirrors in the store; none if it is unusable, which the check of the state reports. */
export async function knownMirrors(context: DoctorContext): Promise<MirrorRow[]> {
  const store = await context.store().catch(() => undefined)
  return store?.mirrors.list() ?? []
}

/** Whether a sync without names would work on it, or refuse it. */
export function isToBeSynced({ activity, configured }: RosterEntry): boolean {
  return activity === 'active' || (configured !== undefined && activity === 'other-service')
}

/** Waits shorter than the check may take, because looking at the directory of a dead mount later on would block. */
async function assertAnswering(path: string, limitMs: number): Promise<void> {
  try {
    await withinTime(awaitAnswer(path), limitMs / 2)
  } catch {
    throw new RootError('root-unreadable', `"${path}" does not answer: a network mount may be dead`)
  }
}
