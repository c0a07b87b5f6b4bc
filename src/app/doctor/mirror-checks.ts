import { withinTime } from '../../foundation/concurrency/within-time.ts'
import { RootError, ShelfdError } from '../../foundation/errors.ts'
import { counted } from '../../foundation/text/safe-text.ts'
import { boundedFileSystem } from '../../local/read/bounded-file-system.ts'
import { inspectRoot } from '../../local/read/open-and-recheck-root.ts'
import { assessWatches, type Finding, failed, ok } from '../../rules/doctor-findings.ts'
import type { MirrorRow } from '../../store/tables/mirrors.ts'
import { assertSamePlace, assertSameRoot } from '../../sync/pin/open-mirror.ts'
import { chooseForDaemon } from '../mirrors/choose-mirrors.ts'
import { describeUnusedGitignore } from '../mirrors/describe-root.ts'
import { explainInactive, listRoster, type RosterEntry } from '../mirrors/mirror-roster.ts'
import type { Check, DoctorContext } from './doctor-context.ts'
import { findingOf, valueOrSkip } from './error-findings.ts'

export const mirrors: Check = {
  name: 'mirrors',
  run: async (context) => {
    const roster = (await rosterOf(context)).filter(isToBeSynced)
    if (roster.length === 0)
      return [ok('none yet; "shelfd init" sets one up, "shelfd sync DIR" mirrors a directory at once')]
    const found = await Promise.all(roster.map((entry) => problemOf(entry, context)))
    const problems = found.filter((problem) => problem !== undefined)
    if (problems.length > 0) return problems
    const remarks = roster.flatMap(({ path, configured }) => {
      const unused = describeUnusedGitignore(path, configured?.gitignore)
      return unused === undefined ? [] : [ok(`"${path}" ${unused}`)]
    })
    return [ok(`${counted(roster.length, 'directory', 'directories')} can be read`), ...remarks]
  },
}

async function problemOf(entry: RosterEntry, { limitMs }: DoctorContext): Promise<Finding | undefined> {
  const { path, row, configured } = entry
  if (entry.activity === 'other-service') {
    return failed(explainInactive(entry) ?? '', { code: 'origin-mismatch' })
  }
  try {
    await assertAnswering(path, limitMs)
    const root = inspectRoot(boundedFileSystem, path)
    if (row) assertSameRoot(row, root)
    if (row && configured) assertSamePlace(row, configured)
    return undefined
  } catch (error) {
    if (!(error instanceof ShelfdError)) throw error
    return findingOf(error)
  }
}

export const overlap: Check = {
  name: 'overlap',
  run: async (context) => {
    await valueOrSkip(rosterOf(context), 'mirrors')
    const known = await knownMirrors(context)
    const { mirrors } = chooseForDaemon(await context.settings(), { known, home: context.home })
    return mirrors.length < 2 ? [] : [ok('no mirror lies in another')]
  },
}

export async function rosterOf(context: DoctorContext): Promise<RosterEntry[]> {
  const settings = await valueOrSkip(context.settings(), 'configuration')
  const known = await knownMirrors(context)
  return listRoster(settings, known)
}

async function knownMirrors(context: DoctorContext): Promise<MirrorRow[]> {
  const store = await context.store().catch(() => undefined)
  return store?.mirrors.list() ?? []
}

/** Returns whether a sync without names takes this mirror, or fails because of it. */
export function isToBeSynced({ activity, configured }: RosterEntry): boolean {
  return activity === 'active' || (configured !== undefined && activity === 'other-service')
}

/** Waits half the time of the check, so that this message comes before the check's own timeout. */
async function assertAnswering(path: string, limitMs: number): Promise<void> {
  try {
    await withinTime(Promise.resolve(boundedFileSystem.answers?.(path)), limitMs / 2)
  } catch {
    throw new RootError('root-unreadable', `"${path}" does not answer: a network mount may be dead`)
  }
}

/** Checks whether the system lets a daemon watch all directories; only Linux has such a limit. */
export const watches: Check = {
  name: 'watches',
  run: async (context) => {
    const use = context.machine.countWatches()
    if (!use) return []
    const daemon = await context.daemon().catch(() => undefined)
    return [assessWatches(use, { directories: await countDirectories(context), isWatching: daemon !== undefined })]
  },
}

async function countDirectories(context: DoctorContext): Promise<number> {
  const store = await valueOrSkip(context.store(), 'state')
  const watched = (await valueOrSkip(rosterOf(context), 'mirrors')).filter(
    (entry) => isToBeSynced(entry) && entry.configured?.watch !== false,
  )
  const counts = watched.map(({ row }) => (row && store ? store.directories.countBelow(row.id, '') + 1 : 0))
  return counts.reduce((sum, count) => sum + count, 0)
}
