import { joinPath } from '../../foundation/files/paths.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import type { PathProblem } from '../../rules/problem-groups.ts'
import type { SyncSummary } from '../../rules/sync-summary.ts'
import type { Engine, OpenMirror } from '../engine.ts'
import type { AlikePaths, DirectoryChanges, ScanBatch, UnsettledFile } from './scan-batch.ts'

/** What a scan has found so far: directories in the store and on the disk, and bounded lists of other findings. */
export interface ScanState {
  readonly storedDirectories: Map<string, number>
  readonly seenDirectories: Set<string>
  readonly unreadable: string[]
  readonly ignoredDirectories: Set<string>
  /** Digests by id of the directory, to be recorded once its missing files are removed. */
  readonly laterDigests: Map<number, Uint8Array | null>
  /** Directories with a file that the database refused. */
  readonly unrecordedIn: Set<string>
  /** New files whose names look alike within their directory: their number, and the paths of two. */
  alike: AlikePaths | undefined
  /** Patterns of `include` that match a file. */
  readonly matched: Set<string>
  /** Unsettled files, up to a bound; below, how many there are in total, and how many of them are new. */
  readonly unsettled: UnsettledFile[]
  unsettledCount: number
  unsettledNewCount: number
  readonly problems: PathProblem[]
  readonly differing: { readonly path: string; readonly mtimeNs: bigint; readonly ctimeNs: bigint }[]
}

/** How many files and problems of each kind a scan lists; further ones are only counted. */
const MAX_NAMED = 10_000

export function emptyScan(storedDirectories: Map<string, number>): ScanState {
  return {
    storedDirectories,
    seenDirectories: new Set(),
    unreadable: [],
    ignoredDirectories: new Set(),
    laterDigests: new Map(),
    unrecordedIn: new Set(),
    alike: undefined,
    matched: new Set(),
    unsettled: [],
    unsettledCount: 0,
    unsettledNewCount: 0,
    problems: [],
    differing: [],
  }
}

/** Adds a batch to the findings and the summary. Returns whether it has anything to record in the store. */
export function noteBatch(scan: ScanState, batch: ScanBatch, summary: SyncSummary): boolean {
  for (const path of batch.directories) scan.seenDirectories.add(path)
  for (const path of batch.ignoredDirectories) scan.ignoredDirectories.add(path)
  for (const pattern of batch.matched) scan.matched.add(pattern)
  scan.unreadable.push(...batch.unreadable)
  for (const alike of batch.alike)
    scan.alike = { ...(scan.alike ?? alike), count: (scan.alike?.count ?? 0) + alike.count }
  if (scan.problems.length < MAX_NAMED) scan.problems.push(...batch.problems)
  if (scan.unsettled.length < MAX_NAMED) scan.unsettled.push(...batch.unsettled)
  scan.unsettledCount += batch.unsettled.length
  scan.unsettledNewCount += batch.unsettled.filter(({ isInStore }) => !isInStore).length
  for (const name of ['unchanged', 'hashed', 'ignored', 'secrets', 'unsupported'] as const)
    summary.files[name] += batch.counts[name]
  return batch.changes.length > 0 || batch.directories.some((path) => !scan.storedDirectories.has(path))
}

/** Writes batches in their order in one transaction, and returns files that the database refuses. Throws RootError if the root moved. */
export function recordBatches(
  engine: Engine,
  mirror: OpenMirror,
  scan: ScanState,
  batches: readonly ScanBatch[],
  summary: SyncSummary,
): PathProblem[] {
  mirror.root.assertInPlace()
  const refused: PathProblem[] = []
  if (batches.length === 0) return refused
  const { store } = engine
  store.writeRelaxed(() => {
    const recording = { engine, mirror, scan, summary, refused, lastContentId: store.scannedFiles.lastContentId() }
    for (const { directories, changes } of batches) {
      for (const path of directories) {
        if (!scan.storedDirectories.has(path))
          scan.storedDirectories.set(path, store.directories.ensure(mirror.row.id, path))
      }
      for (const change of changes) recordChanges(recording, change)
    }
  })
  return refused
}

interface Recording {
  readonly engine: Engine
  readonly mirror: OpenMirror
  readonly scan: ScanState
  readonly summary: SyncSummary
  readonly refused: PathProblem[]
  /** The highest id of a content before this transaction. */
  readonly lastContentId: number
}

function recordChanges(
  { engine: { store, clock }, mirror: { row }, scan, summary, refused, lastContentId }: Recording,
  { path, files, missing, digest }: DirectoryChanges,
): void {
  const directoryId = scan.storedDirectories.get(path)
  if (directoryId === undefined) throw new Error(`The walk found files of "${path}" before its directory`)
  for (const { isInStore, sizeBytes: size, ...file } of files) {
    const previous = isInStore ? store.files.find(directoryId, file.name) : undefined
    const contentId = store.scannedFiles.record(row, { directoryId, size, previous, ...file }, lastContentId)
    const filePath = joinPath(path, file.name)
    if (contentId === undefined) {
      scan.unrecordedIn.add(path)
      if (refused.length < MAX_NAMED) refused.push(notRecorded(filePath))
      continue
    }
    if (previous?.contentId === contentId) {
      summary.files.unchanged += 1
      continue
    }
    summary.files[previous ? 'changed' : 'new'] += 1
    if (previous) store.files.addHistory(row.id, filePath, previous.contentId, 'changed', clock.nowMs())
    const { mtimeNs, ctimeNs } = file
    if (scan.differing.length < MAX_NAMED) scan.differing.push({ path: filePath, mtimeNs, ctimeNs })
  }
  for (const { name, reason } of missing) store.files.markGone(directoryId, name, reason)
  const provenDigest = scan.unrecordedIn.has(path) ? null : digest
  const hasAllFiles = missing.length === 0
  store.directories.setDigest(directoryId, hasAllFiles ? provenDigest : null)
  if (!hasAllFiles) scan.laterDigests.set(directoryId, provenDigest)
}

function notRecorded(path: string): PathProblem {
  const message = `Cannot record "${escapeText(path)}": its times, its size or its inode are beyond what the state can hold; give it another date, or leave it out with an ignore rule`
  return { path, code: 'not-recorded', message }
}

/** Leaves out missing files, because only a complete scan decides that a file is missing (P11, files hidden by an error). */
function withoutMissing(batch: ScanBatch): ScanBatch {
  const changes = batch.changes.map((change) => ({
    ...change,
    missing: [],
    digest: change.missing.length > 0 ? null : change.digest,
  }))
  return { ...batch, changes }
}

/** Records a batch of a rescan without its missing files. Adds files that the database refuses to the problems of the batch. */
export function recordRescan(engine: Engine, mirror: OpenMirror, batch: ScanBatch, summary: SyncSummary): void {
  const storedDirectories = new Map<string, number>()
  for (const path of [...batch.directories, ...batch.changes.map((change) => change.path)]) {
    const id = engine.store.directories.find(mirror.row.id, path)
    if (id !== undefined) storedDirectories.set(path, id)
  }
  const scan = emptyScan(storedDirectories)
  const rescanned = withoutMissing(batch)
  if (noteBatch(scan, rescanned, summary))
    batch.problems.push(...recordBatches(engine, mirror, scan, [rescanned], summary))
}
