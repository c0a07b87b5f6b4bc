import { HeldBackError } from '../../foundation/errors.ts'
import { isWithin } from '../../foundation/paths.ts'
import { type Loss, lossReason, mayHaveMoved } from '../../rules/root-guard.ts'
import type { SyncSummary } from '../../rules/sync-summary.ts'
import type { Store } from '../../store/open-store.ts'
import type { Engine, OpenMirror } from '../engine.ts'
import type { ObservationBatch, PathProblem, UnsettledFile, WalkOptions } from './observation.ts'
import { type DifferingFile, emptyScan, recordObservation, type ScanState } from './record-observation.ts'

export interface ObserveOptions {
  readonly hashEverything: boolean
  readonly acceptsRemovals: boolean
  /** Files that changed within so long are left for later; null: none. */
  readonly settleMs: number | null
}

export interface ScanResult {
  readonly problems: readonly PathProblem[]
  readonly secrets: number
  /** Every directory that was read. */
  readonly directories: ReadonlySet<string>
  /** What was left for later, at most so many of them that they can be kept. */
  readonly unsettled: readonly UnsettledFile[]
  /** Files that are new or have another content; at most so many of them that they can be kept. */
  readonly differing: readonly DifferingFile[]
  /** Files are gone, and it is to be seen whether they come back under a new name before they are removed. */
  readonly isRemovalPostponed: boolean
  /** Of the walk alone: waiting for its turn and for the service is left out. */
  readonly durationMs: number
}

/** At most so many problems of paths are kept of one scan; the rest only counts. */
const MAX_PROBLEMS = 10_000
const MAX_UNSETTLED = 10_000

/** Scans a mirror's directory into the store (product: "Unchanged"), and accounts for it in `summary.files`. */
export async function observe(
  engine: Engine,
  mirror: OpenMirror,
  summary: SyncSummary,
  manner: ObserveOptions,
): Promise<ScanResult> {
  const { store, progress, clock } = engine
  using _turn = await engine.scanTurns.take()
  progress.phase = 'scanning'
  store.files.beginScan(mirror.row.id)
  const scan = emptyScan(new Map(store.directories.list(mirror.row.id).map(({ id, path }) => [path, id])))
  const found: Found = { problems: [], unsettled: [] }
  const isNew = scan.knownDirectories.size === 0
  await using walk = engine.observeTree(walkOptions(engine, mirror, { ...manner, isNew }), engine.signal)
  await mirror.verify()
  const startMs = clock.monotonicMs()
  for await (const batch of walk) {
    recordObservation(engine, mirror, scan, batch, summary)
    keepSome(found, batch)
    progress.filesScanned += batch.counts.unchanged + batch.counts.hashed
    progress.filesHashed += batch.counts.hashed
    progress.bytesHashed += batch.counts.bytesHashed
  }
  warnOfLookAlikes(engine, mirror, scan)
  const isRemovalPostponed = !removeMissing(engine, mirror, scan, { summary, ...manner })
  const { secrets, differing, seenDirectories: directories } = scan
  const durationMs = clock.monotonicMs() - startMs
  return { ...found, isRemovalPostponed, durationMs, secrets, differing, directories }
}

/** Both are mirrored; but another system may take them for one, and people may read the wrong one. */
function warnOfLookAlikes({ logger }: Engine, { row }: OpenMirror, { alike }: ScanState): void {
  if (alike === undefined) return
  const { count: files, path, other } = alike
  logger.warn('files whose names look alike', { mirror: row.name, files, path, other })
}

interface Found {
  readonly problems: PathProblem[]
  readonly unsettled: UnsettledFile[]
}

/** Keeps a bounded part of what the caller may want to know by name. */
function keepSome({ problems, unsettled }: Found, batch: ObservationBatch): void {
  if (problems.length < MAX_PROBLEMS) problems.push(...batch.problems)
  if (unsettled.length < MAX_UNSETTLED) unsettled.push(...batch.unsettled)
}

/** How a mirror's tree is walked; `isNew`: the store knows nothing of it. */
export function walkOptions(
  engine: Engine,
  mirror: Omit<OpenMirror, 'runId' | 'verify'>,
  {
    hashEverything,
    isNew,
    settleMs,
  }: Pick<ObserveOptions, 'hashEverything' | 'settleMs'> & { readonly isNew: boolean },
): WalkOptions {
  const { ignore, maxSizeBytes, oneFileSystem, emptyFiles } = mirror.settings
  const { rootRealPath, rootDevice, ownDirectories } = mirror
  const rules = { ignore, maxSizeBytes, oneFileSystem, emptyFiles }
  return {
    storeDirectory: isNew ? null : engine.store.directory,
    mirrorId: mirror.row.id,
    rootRealPath,
    rootDevice,
    ...rules,
    ownDirectories,
    hashEverything,
    listIgnored: false,
    settleMs,
  }
}

/** Only after the whole walk: what it did not find, in directories that it could read, is gone or has moved. */
function removeMissing(
  { store, clock }: Engine,
  mirror: OpenMirror,
  scan: ScanState,
  { summary, acceptsRemovals }: { readonly summary: SyncSummary; readonly acceptsRemovals: boolean },
): boolean {
  const { files } = summary
  const gone = findGoneDirectories(scan)
  let isDone = true
  files.scanned = files.unchanged + files.new + files.changed
  if (gone.length > 0 || store.files.countGone().all > 0) {
    store.write(() => {
      for (const { id, reason } of gone) store.files.noteDirectoryGone(id, reason)
      const { moved, removed, leftOut, loss } = countGone(store, mirror, scan, files)
      if (!acceptsRemovals && mayHaveMoved(loss, scan.unsettledNewCount)) isDone = false
      // From here on the summary counts what is gone: a mirror that is halted counts nothing as moved or removed.
      else if (!acceptsRemovals) assertNotLost(mirror, loss)
      files.moved = moved
      files.new -= moved
      if (!isDone) return
      files.removed = removed
      files.leftOut = leftOut
      store.files.removeGone(clock.nowMs())
      for (const [id, digest] of scan.laterDigests) store.directories.setDigest(id, digest)
      for (const { id } of gone) store.directories.remove(id)
    })
  }
  if (isDone) store.files.endScan(mirror.row.id)
  return isDone
}

interface Gone {
  readonly moved: number
  readonly removed: number
  readonly leftOut: number
  readonly loss: Loss
}

/**
 * Counts what moved and what is gone. Neither what was recorded under a new name before this scan is lost, nor what a rule
 * leaves out now.
 */
function countGone(store: Store, { row }: OpenMirror, scan: ScanState, files: SyncSummary['files']): Gone {
  const moved = store.files.countMoved(row.id)
  const gone = store.files.countGone()
  const movedBefore = moved.ever - moved.now
  const loss = {
    known: store.files.count(row.id) - files.new - movedBefore - gone.leftOut,
    found: files.unchanged + files.new + files.changed + scan.unsettledCount,
    lost: gone.all - gone.leftOut - moved.found,
  }
  const removed = gone.all - moved.now
  return { moved: moved.now, removed, leftOut: Math.min(removed, gone.leftOut), loss }
}

/** An unmounted disk looks like a tree that somebody deleted: better ask (P12). Nothing was recorded as removed yet. */
function assertNotLost({ row }: OpenMirror, files: Loss): void {
  const reason = lossReason(files)
  if (reason === undefined) return
  const what = reason === 'emptied' ? `all ${files.known} files` : `${files.lost} of ${files.known} files`
  const text = `The mirror "${row.name}" is halted: ${what} are gone from "${row.path}"`
  throw new HeldBackError(
    'root-emptied',
    `${text}; if that is right, "shelfd sync ${row.name} --accept-removals" goes on`,
  )
}

function findGoneDirectories(scan: ScanState): { id: number; reason: 'gone' | 'ignored' }[] {
  if (scan.seenDirectories.size === scan.knownDirectories.size) return []
  const gone: { id: number; reason: 'gone' | 'ignored' }[] = []
  for (const [path, id] of scan.knownDirectories) {
    if (scan.seenDirectories.has(path) || scan.unreadable.some((ancestor) => isWithin(ancestor, path))) continue
    const isIgnored = [...scan.ignoredDirectories].some((ancestor) => isWithin(ancestor, path))
    gone.push({ id, reason: isIgnored ? 'ignored' : 'gone' })
  }
  return gone
}
