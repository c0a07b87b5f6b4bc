import type { Clock } from '../../foundation/clock.ts'
import { HeldBackError } from '../../foundation/errors.ts'
import { isWithin } from '../../foundation/files/paths.ts'
import type { Logger } from '../../foundation/logger.ts'
import { counted, escapeText, shellWord } from '../../foundation/text/safe-text.ts'
import { scanRulesOf } from '../../local/ignore/ignore-scope.ts'
import { findSilent } from '../../local/read/open-and-recheck-root.ts'
import { type Loss, type LossReason, lossReason, mayHaveMoved } from '../../rules/guard-lost-files.ts'
import { isScrubDue } from '../../rules/scan-times.ts'
import type { SyncSummary } from '../../rules/sync-summary.ts'
import type { Store } from '../../store/open-store.ts'
import type { MirrorRow } from '../../store/tables/mirrors.ts'
import type { Engine, OpenMirror } from '../engine.ts'
import { emptyScan, noteBatch, recordBatches, type ScanState } from './record-batches.ts'
import type { RescanOptions, ScanBatch } from './scan-batch.ts'

interface ScanOptions {
  /** Whether every file is hashed, even if that is not due yet. */
  readonly hashEverything: boolean
  readonly acceptsRemovals: boolean
  readonly acceptsRoot: boolean
  readonly settleMs: number | null
}

export interface ScanResult
  extends Pick<ScanState, 'problems' | 'unsettled' | 'unsettledCount' | 'differing' | 'seenDirectories'> {
  /** Whether the store had no directory of the mirror before the scan. */
  readonly isFirst: boolean
  readonly hasHashedAll: boolean
  /** Whether missing files are not removed yet, because unsettled new files may be the same ones under new names. */
  readonly isRemovalPostponed: boolean
  /** Patterns of `include` that match no file. */
  readonly unmatched: readonly string[]
  /** The duration of the scan, without waits for other scans and for the service. */
  readonly durationMs: number
}

/** How many lost files, and how many others, a message names. */
const MAX_EXAMPLES = 3

/**
 * Scans a mirror's directory into the store. Throws RootError if the root is gone, and HeldBackError `root-emptied` if too many files are.
 * Steps: wait for other scans; walk the tree and record batches, each after a check that the root is still there; warn of names that look
 * alike; remove missing files, unless too many are gone or they may have moved; pin the root, and record that every file was hashed.
 */
export async function scanMirror(
  engine: Engine,
  mirror: OpenMirror,
  summary: SyncSummary,
  options: ScanOptions,
): Promise<ScanResult> {
  const { store, progress, clock } = engine
  progress.phase = 'turn'
  using _lock = await engine.scanMutex.lock(engine.signal)
  progress.phase = 'scanning'
  store.files.beginScan(mirror.row.id)
  const scan = emptyScan(new Map(store.directories.list(mirror.row.id).map(({ id, path }) => [path, id])))
  const storedCount = scan.storedDirectories.size
  const isFirst = storedCount === 0
  const { row } = mirror
  const isScrub = isScrubDue(row.scrubbedAt, engine.scrubIntervalMs, clock.nowMs())
  const hasHashedAll = options.hashEverything || isScrub
  const walked = {
    ...walkOptions(engine, mirror, { hashEverything: hasHashedAll, settleMs: options.settleMs, isNew: isFirst }),
    root: mirror.root.place,
    silent: await findSilent(engine.fs, mirror.root.place, engine),
    storedDirectoryCount: storedCount,
  }
  await using walk = engine.startWalk(walked, engine.signal, ({ files, bytes }) => {
    progress.filesScanned += files
    progress.bytesHashed += bytes
  })
  await mirror.verify()
  const startMs = clock.monotonicMs()
  const pending = new PendingBatches(clock)
  const record = () => scan.problems.push(...recordBatches(engine, mirror, scan, pending.take(), summary))
  for await (const batch of walk) {
    if (noteBatch(scan, batch, summary)) pending.add(batch)
    if (pending.isFull) record()
    progress.filesHashed += batch.counts.hashed
  }
  record()
  warnOfLookAlikes(engine, mirror, scan)
  const { files } = summary
  files.scanned = files.unchanged + files.new + files.changed
  const isRemovalPostponed = !removeMissing(engine, mirror, scan, { summary, ...options })
  const durationMs = clock.monotonicMs() - startMs
  if (mirror.mustPinRoot) store.write(() => store.mirrors.pinRoot(row))
  if (hasHashedAll) store.write(() => store.mirrors.recordScrub(row.id, clock.nowMs()))
  const unmatched = mirror.settings.include.filter((pattern) => !scan.matched.has(pattern))
  return { ...scan, isFirst, hasHashedAll, isRemovalPostponed, unmatched, durationMs }
}

/** Warns of files that another system may take for one file, and that people may confuse. */
function warnOfLookAlikes({ logger }: Engine, { row }: OpenMirror, { alike }: ScanState): void {
  if (alike === undefined) return
  const { count: files, path, other } = alike
  logger.warn('files whose names look alike', { mirror: row.name, files, path, other })
}

/** Warns of patterns of `include` that match no file: a mistyped pattern leaves out files. */
export function warnOfUnmatched(logger: Logger, mirror: string, patterns: readonly string[]): void {
  logger.warn('no file matches these patterns of include', { mirror, patterns: patterns.join(', ') })
}

/** Returns all options of a walk except the root. `isNew`: the store has no files of the mirror. */
export function walkOptions(
  { store }: Engine,
  mirror: Omit<OpenMirror, 'runId' | 'verify'>,
  { hashEverything, isNew, settleMs }: Pick<ScanOptions, 'hashEverything' | 'settleMs'> & { readonly isNew: boolean },
): RescanOptions {
  return {
    storeDirectory: isNew ? null : store.directory,
    mirrorId: mirror.row.id,
    rules: scanRulesOf(mirror.settings),
    ownDirectories: mirror.ownDirectories,
    hashEverything,
    listIgnored: false,
    settleMs,
  }
}

type RemovalOptions = Pick<ScanOptions, 'acceptsRemovals' | 'acceptsRoot'> & { readonly summary: SyncSummary }

/** Removes files that the walk did not find in directories that it could list. Returns false when the removal is postponed. */
function removeMissing(
  { store, clock }: Engine,
  mirror: OpenMirror,
  scan: ScanState,
  { summary, acceptsRemovals, acceptsRoot }: RemovalOptions,
): boolean {
  const { files } = summary
  const { id: mirrorId } = mirror.row
  const gone = findGoneDirectories(scan)
  let isDone = true
  let halted: HeldBackError | undefined
  if (gone.length > 0 || store.files.countGone().all > 0 || store.unconfirmed.count(mirrorId).all > 0) {
    store.write(() => {
      for (const { id, reason } of gone) store.files.markDirectoryGone(id, reason)
      const { moved, removed, leftOut, ...found } = countGone(store, mirror, scan, files)
      const loss = { ...found.loss, isRootAccepted: acceptsRoot }
      if (!acceptsRemovals && mayHaveMoved(loss, scan.unsettledNewCount)) isDone = false
      else if (!acceptsRemovals) halted = haltIfLost(store, mirror, loss)
      // The summary counts moved and removed files from here on, so that a halted mirror counts none.
      if (halted) return
      files.moved = moved
      files.new -= moved
      if (!isDone) return
      files.removed = removed
      files.leftOut = leftOut
      store.files.removeGone(clock.nowMs())
      for (const [id, digest] of scan.laterDigests) store.directories.setDigest(id, digest)
      for (const { id } of gone) store.directories.remove(id)
      store.unconfirmed.clear(mirrorId)
    })
  }
  if (halted) throw halted
  if (isDone) store.files.endScan(mirror.row.id)
  return isDone
}

/** Counts moved and lost files. Files recorded under a new name, or left out by a rule now, do not count as lost. */
function countGone(store: Store, { row }: OpenMirror, scan: ScanState, files: SyncSummary['files']) {
  const moved = store.files.countMoved(row.id)
  const gone = store.files.countGone()
  const unconfirmed = store.unconfirmed.count(row.id)
  const movedBefore = moved.ever - moved.now
  const loss = {
    stored: store.files.count(row.id) - files.new - movedBefore - gone.leftOut - unconfirmed.all,
    found: files.unchanged + files.new + files.changed + scan.unsettledCount,
    lost: Math.max(0, gone.all - gone.leftOut - moved.found - unconfirmed.gone),
  }
  const removed = Math.max(0, gone.all - moved.now - unconfirmed.gone)
  return { moved: moved.now, removed, leftOut: Math.min(removed, gone.leftOut), loss }
}

/** Returns an error if too many files are gone: users must confirm, since an unmounted disk looks like a deleted tree (P12, mass loss). */
function haltIfLost(store: Store, { row }: OpenMirror, files: Loss): HeldBackError | undefined {
  const reason = lossReason(files)
  if (reason === undefined) return undefined
  if (reason === 'replaced') store.unconfirmed.addFound(row.id)
  const text = `The mirror "${row.name}" is halted: ${describeLoss(store, row, reason, files)}`
  return new HeldBackError(
    'root-emptied',
    `${text}; if that is right, run "shelfd sync ${shellWord(row.name)} --accept-removals"`,
  )
}

function describeLoss(store: Store, { id, path }: MirrorRow, reason: LossReason, files: Loss): string {
  const { stored, found } = files
  if (reason === 'emptied') return `all ${stored} files are gone from "${path}"`
  if (reason === 'more than half') return `${files.lost} of ${stored} files are gone from "${path}"`
  const { gone, there } = store.unconfirmed.listExamples(id, MAX_EXAMPLES)
  const all = stored === 1 ? 'its only file' : `all ${stored} files`
  const others = `${counted(found, 'other')} ${found === 1 ? 'is' : 'are'} there`
  const lost = `${all} (${quoted(gone, stored)}) ${stored === 1 ? 'is' : 'are'} gone`
  return `nothing that it had is in "${path}": ${lost}, and ${others} (${quoted(there, found)})`
}

function quoted(paths: readonly string[], all: number): string {
  const names = paths.map((path) => `"${escapeText(path)}"`).join(', ')
  return all > paths.length ? `${names} …` : names
}

function findGoneDirectories(scan: ScanState): { id: number; reason: 'gone' | 'ignored' }[] {
  if (scan.seenDirectories.size === scan.storedDirectories.size) return []
  const gone: { id: number; reason: 'gone' | 'ignored' }[] = []
  for (const [path, id] of scan.storedDirectories) {
    if (scan.seenDirectories.has(path) || scan.unreadable.some((ancestor) => isWithin(ancestor, path))) continue
    const isIgnored = [...scan.ignoredDirectories].some((ancestor) => isWithin(ancestor, path))
    gone.push({ id, reason: isIgnored ? 'ignored' : 'gone' })
  }
  return gone
}

/** Batches are recorded once they have this many files: more would take memory and save no time. */
const FULL_FILES = 8_192
/** Batches are recorded after this time at the latest, so that little is lost if the process ends during a scan of a slow disk. */
const FULL_AGE_MS = 1_000

/** Batches that wait to be recorded in one transaction. */
class PendingBatches {
  readonly #clock: Clock
  #batches: ScanBatch[] = []
  #files = 0
  #sinceMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get isFull(): boolean {
    if (this.#batches.length === 0) return false
    return this.#files >= FULL_FILES || this.#clock.monotonicMs() - this.#sinceMs >= FULL_AGE_MS
  }

  add(batch: ScanBatch): void {
    if (this.#batches.length === 0) this.#sinceMs = this.#clock.monotonicMs()
    this.#batches.push(batch)
    this.#files += batch.counts.hashed
  }

  take(): readonly ScanBatch[] {
    const taken = this.#batches
    this.#batches = []
    this.#files = 0
    return taken
  }
}
