import { joinPath, nameOf, parentOf } from '../../foundation/files/paths.ts'
import type { PathProblem } from '../../rules/problem-groups.ts'
import type { SyncSummary } from '../../rules/sync-summary.ts'
import type { Engine, OpenMirror } from '../engine.ts'
import { recordRescan } from '../scan/record-batches.ts'
import { groupByDirectory } from '../scan/rescan-entries.ts'
import type { DirectoryChanges, Rescanner, RescanWork, ScanBatch } from '../scan/scan-batch.ts'
import type { MirrorWatch } from './mirror-watch.ts'

export interface Rescan {
  readonly engine: Engine
  readonly mirror: OpenMirror
  readonly watch: MirrorWatch
  readonly rescanner: Rescanner
  readonly summary: SyncSummary
}

export interface RescanResult {
  readonly problems: readonly PathProblem[]
  /** Whether a scan must find out what happened: a path of the store is gone, replaced or unreadable, or too many directories are new. */
  readonly needsScan: boolean
  readonly hasDifferences: boolean
}

/** Each round reads the directories that appeared during the round before. After this many rounds, a scan replaces them. */
const MAX_ROUNDS = 8

/** Rescans paths that may have changed, relative to the root, and records the differences in the store. */
export async function rescanHints(task: Rescan, paths: readonly string[]): Promise<RescanResult> {
  const problems: PathProblem[] = []
  const root = task.mirror.root.place
  let needsScan = false
  let hasDifferences = false
  const addBatch = (batch: ScanBatch) => {
    problems.push(...batch.problems)
    if (mustScan(task, batch)) needsScan = true
    if (batch.changes.length > 0 || batch.directories.length > 0) hasDifferences = true
  }
  const trees: string[] = []
  const { engine, mirror } = task
  const entries = groupByDirectory(engine.store, mirror.row.id, paths)
  for await (const batch of rescan(task, { kind: 'entries', entries, root })) {
    addBatch(batch)
    trees.push(...batch.trees)
  }
  let fresh = task.watch.add(trees)
  for (let round = 1, roots = trees; roots.length > 0; round += 1, roots = topmost(fresh)) {
    if (round > MAX_ROUNDS) return { problems, needsScan: true, hasDifferences }
    fresh = []
    for await (const batch of rescan(task, { kind: 'trees', paths: roots, root })) {
      addBatch(batch)
      // A directory that was read before it was watched is read again.
      fresh = [...fresh, ...task.watch.add(batch.directories)]
    }
  }
  return { problems, needsScan, hasDifferences }
}

async function* rescan(task: Rescan, work: RescanWork): AsyncGenerator<ScanBatch> {
  const { engine, mirror, rescanner, summary, watch } = task
  for await (const read of rescanner.rescan(work, engine.signal)) {
    const batch = { ...read, changes: withoutChanged(read.changes, watch) }
    recordRescan(engine, mirror, batch, summary)
    for (const { path, fingerprint } of batch.unsettled) watch.settler.markUnsettled(path, fingerprint)
    yield batch
  }
}

/** Leaves out files that changed again before they were read; they are rescanned once they have settled. */
function withoutChanged(changes: readonly DirectoryChanges[], { settler }: MirrorWatch) {
  return changes.flatMap((change) => {
    const { path, files, missing } = change
    const settled = files.filter(({ name }) => !settler.has(joinPath(path, name)))
    if (settled.length === files.length) return [change]
    return settled.length + missing.length === 0 ? [] : [{ ...change, files: settled, digest: null }]
  })
}

function mustScan({ engine, mirror }: Rescan, batch: ScanBatch): boolean {
  if (batch.unreadable.length > 0 || batch.changes.some(({ missing }) => missing.length > 0)) return true
  if (batch.absent.some((path) => isStoredPath(engine, mirror, path))) return true
  return batch.changes.some((change) => hasReplaced(engine, mirror, change))
}

function hasReplaced({ store }: Engine, { row }: OpenMirror, { path, files }: DirectoryChanges): boolean {
  const fresh = files.filter(({ isInStore }) => !isInStore)
  return fresh.some(({ name }) => store.directories.find(row.id, joinPath(path, name)) !== undefined)
}

function isStoredPath({ store }: Engine, { row }: OpenMirror, path: string): boolean {
  if (store.directories.find(row.id, path) !== undefined) return true
  return store.files.findForCompare(row.id, parentOf(path), nameOf(path)) !== undefined
}

function topmost(directories: readonly string[]): string[] {
  const all = new Set(directories)
  return directories.filter((path) => {
    for (let above = parentOf(path); above !== ''; above = parentOf(above)) if (all.has(above)) return false
    return true
  })
}
