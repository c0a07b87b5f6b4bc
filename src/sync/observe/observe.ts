import { HeldBackError } from '../../foundation/errors.ts'
import { lossReason } from '../../rules/root-guard.ts'
import type { SyncSummary } from '../../rules/sync-summary.ts'
import type { Engine, OpenMirror } from '../engine.ts'
import type { PathProblem } from './observation.ts'
import { recordObservation, type ScanState } from './record-observation.ts'

export interface ScanManner {
  readonly hashEverything: boolean
  readonly acceptsRemovals: boolean
}

export interface ScanResult {
  readonly problems: readonly PathProblem[]
  readonly unreadable: readonly string[]
  readonly secrets: number
}

/** At most so many problems of paths are kept of one scan; the rest only counts. */
const MOST_PROBLEMS = 10_000

/** Scans a mirror's directory into the store (product: "Unchanged"), and accounts for it in `summary.files`. */
export async function observe(
  engine: Engine,
  mirror: OpenMirror,
  summary: SyncSummary,
  manner: ScanManner,
): Promise<ScanResult> {
  const { store, progress } = engine
  progress.phase = 'scanning'
  store.files.forgetScan()
  const scan: ScanState = {
    knownDirectories: new Map(store.directories.list(mirror.row.id).map(({ id, path }) => [path, id])),
    seenDirectories: new Set(),
    unreadable: [],
    ignoredDirectories: new Set(),
    laterSeals: new Map(),
    secrets: 0,
  }
  const problems: PathProblem[] = []
  const isNew = scan.knownDirectories.size === 0
  await using walk = engine.observeTree(walkOptions(engine, mirror, { ...manner, isNew }), engine.signal)
  await mirror.verify()
  for await (const batch of walk) {
    recordObservation(engine, mirror, scan, batch, summary)
    if (problems.length < MOST_PROBLEMS) problems.push(...batch.problems)
    progress.filesScanned += batch.counts.unchanged + batch.counts.hashed
    progress.filesHashed += batch.counts.hashed
    progress.bytesHashed += batch.counts.bytesHashed
  }
  removeMissing(engine, mirror, scan, { summary, acceptsRemovals: manner.acceptsRemovals })
  return { problems, unreadable: scan.unreadable, secrets: scan.secrets }
}

function walkOptions(
  engine: Engine,
  mirror: OpenMirror,
  { hashEverything, isNew }: { readonly hashEverything: boolean; readonly isNew: boolean },
) {
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
  }
}

/** Only after the whole walk: what it did not find, in directories that it could read, is gone or has moved. */
function removeMissing(
  { store, clock }: Engine,
  mirror: OpenMirror,
  scan: ScanState,
  { summary, acceptsRemovals }: { readonly summary: SyncSummary; readonly acceptsRemovals: boolean },
): void {
  const { files } = summary
  const gone = findGoneDirectories(scan)
  if (gone.length > 0 || store.files.countGone() > 0) {
    store.write(() => {
      for (const { id, reason } of gone) store.files.noteDirectoryGone(id, reason)
      files.moved = store.files.countMoved()
      files.removed = store.files.countGone() - files.moved
      const found = files.unchanged + files.new + files.changed
      const known = store.files.count(mirror.row.id) - files.new
      if (!acceptsRemovals) assertNotLost(mirror, { known, found, lost: files.removed })
      files.new -= files.moved
      store.files.removeGone(clock.nowMs())
      for (const [id, seal] of scan.laterSeals) store.directories.setSeal(id, seal)
      for (const { id } of gone) store.directories.remove(id)
    })
  }
  files.scanned = files.unchanged + files.new + files.changed + files.moved
}

/** An unmounted disk looks like a tree that somebody deleted: better ask (P12). Nothing was recorded as removed yet. */
function assertNotLost({ row }: OpenMirror, files: Parameters<typeof lossReason>[0]): void {
  const reason = lossReason(files)
  if (reason === undefined) return
  const what = reason === 'emptied' ? `all ${files.known} files` : `${files.lost} of ${files.known} files`
  const text = `The mirror "${row.name}" is halted: ${what} are gone from "${row.path}"`
  throw new HeldBackError('root-emptied', `${text}; if that is right, run sync once with --accept-removals`)
}

function findGoneDirectories(scan: ScanState): { id: number; reason: 'gone' | 'ignored' }[] {
  if (scan.seenDirectories.size === scan.knownDirectories.size) return []
  const isBelow = (path: string, ancestor: string) =>
    ancestor === '' || path === ancestor || path.startsWith(`${ancestor}/`)
  const gone: { id: number; reason: 'gone' | 'ignored' }[] = []
  for (const [path, id] of scan.knownDirectories) {
    if (scan.seenDirectories.has(path) || scan.unreadable.some((ancestor) => isBelow(path, ancestor))) continue
    const isIgnored = [...scan.ignoredDirectories].some((ancestor) => isBelow(path, ancestor))
    gone.push({ id, reason: isIgnored ? 'ignored' : 'gone' })
  }
  return gone
}
