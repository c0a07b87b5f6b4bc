import { withinTime } from '../../foundation/concurrency/waits.ts'
import { RootError, ShelfdError } from '../../foundation/errors.ts'
import { counted } from '../../foundation/text/safe-text.ts'
import { boundedFileSystem } from '../../local/read/bounded-file-system.ts'
import { inspectRoot } from '../../local/read/open-and-recheck-root.ts'
import { assessWatches, type Finding, failed, ok } from '../../rules/doctor-findings.ts'
import type { MirrorRow } from '../../store/tables/mirrors.ts'
import { assertSamePlace, assertSameRoot } from '../../sync/pin/open-mirror.ts'
import { describeUnusedGitignore } from '../mirrors/check-roots.ts'
import { chooseForDaemon } from '../mirrors/choose-mirrors.ts'
import { explainInactive, listRoster, type RosterEntry } from '../mirrors/mirror-roster.ts'
import { type Check, type DoctorContext, findingOf, valueOrSkip } from './doctor-context.ts'

export const mirrors: Check = {
  name: 'mirrors',
  run: async (context) => {
    const roster = (await rosterOf(context)).filter(isToBeSynced)
    if (roster.length === 0)
      return [ok('none yet; "shelfd init" sets one up, "shelfd sync DIR" mirrors a directory at once')]
    const found = await Promise.all(roster.map((entry) => findProblem(entry, context)))
    const problems = found.filter((problem) => problem !== undefined)
    if (problems.length > 0) return problems
    const remarks = roster.flatMap(({ path, configured }) => {
      const unused = describeUnusedGitignore(path, configured?.gitignore)
      return unused === undefined ? [] : [ok(`"${path}" ${unused}`)]
    })
    return [ok(`${counted(roster.length, 'directory', 'directories')} can be read`), ...remarks]
  },
}

async function findProblem(entry: RosterEntry, { limitMs }: DoctorContext): Promise<Finding | undefined> {
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
    const { mirrors } = chooseForDaemon(await context.settings(), {
      storedMirrors: await storedMirrors(context),
      home: context.home,
    })
    return mirrors.length < 2 ? [] : [ok('no mirror lies in another')]
  },
}

export async function rosterOf(context: DoctorContext): Promise<RosterEntry[]> {
  const settings = await valueOrSkip(context.settings(), 'configuration')
  return listRoster(settings, await storedMirrors(context))
}

async function storedMirrors(context: DoctorContext): Promise<MirrorRow[]> {
  const store = await context.store().catch(() => undefined)
  return store?.mirrors.list() ?? []
}

/** Returns whether a sync without names syncs this mirror, or fails because of it. */
export function isToBeSynced({ activity, configured }: RosterEntry): boolean {
  return activity === 'active' || (configured !== undefined && activity === 'other-service')
}

/** Throws RootError if the file system does not answer within half the time of the check, so that no timeout hides this message. */
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
