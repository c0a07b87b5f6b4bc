import { fileErrorCodes } from '../../foundation/errors.ts'
import { formatDuration } from '../../foundation/text/units.ts'
import { hasChangedUnderWay } from '../../rules/path-problems.ts'
import type { PathProblem } from '../../rules/problem-groups.ts'
import { promptScanDelayMs, regularScanIntervalMs } from '../../rules/scan-times.ts'
import { ageMsOf } from '../../rules/settled-files.ts'
import { emptySummary, type SyncSummary } from '../../rules/sync-summary.ts'
import type { Engine, OpenMirror } from '../engine.ts'
import type { Rescanner } from '../scan/scan-batch.ts'
import { type ScanResult, scanMirror, walkOptions, warnOfUnmatched } from '../scan/scan-mirror.ts'
import type { ControllerStatus } from './controller-status.ts'
import { type ControllerSettings, MirrorWatch } from './mirror-watch.ts'
import { rescanHints } from './rescan-hints.ts'

const MAX_HINTS = 2_000
const RESCANNER_IDLE_MS = 30_000
/** A scan that reports this many unsettled files may have left out others. */
const MANY_UNSETTLED = 10_000
/** A file is reported as busy when it has been unsettled for `settle` times this factor, and for at least the time below. */
const BUSY_FACTOR = 5
const BUSY_AT_LEAST_MS = 60_000
const MAX_PROBLEMS = 10_000
/** A change counts as missed by the watcher only if it is older, because the watcher may still report a younger one. */
const MISSED_AFTER_MS = 2_000
/** If a scan hashed files, at most this much of its duration counts, unless the scan before it took longer. */
const MAX_HASHING_MS = 1_000

/** Finds what changed in one mirror: by scans, and by rescanning the paths that its watcher reports. */
export class MirrorScanner implements AsyncDisposable {
  isScanning = false
  hasScanned = false
  /** When the next regular scan is due (monotonic); Infinity: never. */
  regularScanMs = Number.POSITIVE_INFINITY
  readonly #engine: Engine
  readonly #settings: ControllerSettings
  readonly #onDue: () => void
  #watch: MirrorWatch | undefined
  #mirror: OpenMirror | undefined
  #rescanner: Rescanner | undefined
  #rescannerIdleAtMs = Number.POSITIVE_INFINITY
  #scanAtMs = 0
  #lastScanMs = 0
  #scannedAtMs = 0
  #lastScanAt: number | null = null
  #missed = 0
  /** Whether every directory was already watched when the last scan read it. */
  #isCovered = false
  /** By path, because a run may last for days and the watcher may report an unreadable path again and again. */
  #problems = new Map<string, PathProblem>()
  #isComplete = false
  #busy = new Set<string>()

  /** `onDue` is called when `dueMs` may be earlier than before. */
  constructor(engine: Engine, settings: ControllerSettings, onDue: () => void) {
    this.#engine = engine
    this.#settings = settings
    this.#onDue = onDue
  }

  get status(): Omit<ControllerStatus, 'state' | 'reason' | 'lastSuccessAt'> {
    const { clock } = this.#engine
    const isPlanned = Number.isFinite(this.#scanAtMs)
    return {
      watcher: this.#watch?.backEnd ?? null,
      isWatchLimited: this.#watch?.isLimited ?? false,
      settling: this.#watch?.settler.size ?? 0,
      missedByWatcher: this.#missed,
      lastScanAt: this.#lastScanAt,
      nextScanAt: isPlanned ? clock.nowMs() + Math.max(0, Math.round(this.#scanAtMs - clock.monotonicMs())) : null,
    }
  }

  get dueMs(): number {
    return Math.min(this.#scanAtMs, this.#watch?.settler.nextDueMs() ?? Number.POSITIVE_INFINITY)
  }

  get tidyAtMs(): number {
    return this.#rescannerIdleAtMs
  }

  /** Whether a file that was unsettled at the last scan still is, and has not become busy meanwhile. */
  get isSettling(): boolean {
    return this.#watch?.settler.hasWaitedSince(this.#scannedAtMs, this.#busyAfterMs) ?? false
  }

  scanNow(): void {
    this.#scanAtMs = 0
  }

  /** Rescans a path once it has settled, as if its watcher had reported it. */
  rescanSoon(path: string): void {
    if (this.#watch?.settler.isFull) this.#scanSoon('more changes than can be remembered')
    else this.#watch?.settler.markChanged(path)
    this.#onDue()
  }

  /** At the first call, requests a scan and begins to watch the mirror (unless `settings.watch` is null). */
  async open(mirror: OpenMirror): Promise<void> {
    this.#mirror = mirror
    const { watch: method, scanIntervals } = this.#settings
    if (this.#watch) return
    const options = { root: mirror.root.realPath, settleMs: scanIntervals.settleMs, method, name: mirror.row.name }
    this.#watch = await MirrorWatch.open(this.#engine, options, {
      onHint: this.#onDue,
      onScanNeeded: (reason) => this.#scanSoon(reason),
    })
    this.#scanAtMs = 0
  }

  /** Stops watching, for example when the root is gone; the next `open` begins again, with a scan. */
  async close(): Promise<void> {
    const [watch, rescanner] = [this.#watch, this.#rescanner]
    this.#watch = undefined
    this.#rescanner = undefined
    this.#rescannerIdleAtMs = Number.POSITIVE_INFINITY
    this.#isCovered = false
    await watch?.[Symbol.asyncDispose]()
    await rescanner?.[Symbol.asyncDispose]()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Starts the rescanning thread while hints settle, and ends it when it has long been idle. */
  async tidy(): Promise<void> {
    const nowMs = this.#engine.clock.monotonicMs()
    if (this.#watch && this.#watch.settler.size > 0 && this.hasScanned) this.#openRescanner()
    else if (this.#rescanner && nowMs >= this.#rescannerIdleAtMs) await this.#closeRescanner()
  }

  /** Returns the problems found since the last call, and whether a scan saw the whole tree. */
  takeFindings(): { problems: readonly PathProblem[]; isComplete: boolean } {
    const findings = { problems: [...this.#problems.values()], isComplete: this.#isComplete }
    this.#problems = new Map()
    this.#isComplete = false
    return findings
  }

  /** Scans or rescans what is due and records the differences; returns true if there may be something to upload. */
  async scanDue(engine: Engine, mirror: OpenMirror, summary: SyncSummary): Promise<boolean> {
    if (this.#scanAtMs <= engine.clock.monotonicMs()) {
      await this.#scan(engine, mirror, summary)
      return true
    }
    return this.#rescan(engine, mirror, summary)
  }

  async #rescan(engine: Engine, mirror: OpenMirror, summary: SyncSummary): Promise<boolean> {
    const watch = this.#watch
    const settled = watch?.settler.takeSettled(MAX_HINTS) ?? []
    if (!watch || settled.length === 0) return false
    this.#forgetProblems(engine, mirror, settled)
    try {
      const task = { engine, mirror, watch, rescanner: this.#openRescanner(), summary }
      const { problems, needsScan, hasDifferences } = await rescanHints(task, settled)
      this.#addProblems(problems)
      if (needsScan) this.#scanSoon('a file or directory of the state is gone')
      if (watch.isPolled) this.#planScan(this.#regularScanMs(engine, watch))
      return hasDifferences
    } catch (error) {
      await this.#closeRescanner()
      this.#scanSoon('the check of changed files was interrupted')
      throw error
    }
  }

  async #scan(engine: Engine, mirror: OpenMirror, summary: SyncSummary): Promise<void> {
    this.isScanning = true
    this.#scanAtMs = Number.POSITIVE_INFINITY
    try {
      this.#watch?.add(engine.store.directories.list(mirror.row.id).map(({ path }) => path))
      // The guards against lost files judge the counts of one scan, but a run may have several scans.
      const scanned = emptySummary(summary)
      const { settleMs } = this.#settings.scanIntervals
      const scanOptions = { hashEverything: false, acceptsRemovals: false, acceptsRoot: false, settleMs }
      const scan = await scanMirror(engine, mirror, scanned, scanOptions)
      addScan(summary, scanned)
      // The next scan does not hash these files again, so it takes less time than this one.
      const maxMs = scanned.files.hashed > 0 ? Math.max(this.#lastScanMs, MAX_HASHING_MS) : Number.POSITIVE_INFINITY
      this.#lastScanMs = Math.min(scan.durationMs, maxMs)
      if (!this.hasScanned) this.#reportLeftOut(engine, scanned, scan.unmatched)
      this.#applyScan(engine, scan)
    } finally {
      this.isScanning = false
    }
  }

  /** Logs how many files are never sent. Only the first scan does so, so that the log has it once. */
  #reportLeftOut({ logger }: Engine, { files }: SyncSummary, unmatched: readonly string[]): void {
    const mirror = this.#settings.mirror.name
    const { secrets, unsupported } = files
    if (secrets > 0) logger.warn('left out files that look like secrets', { mirror, paths: secrets })
    if (unmatched.length > 0) warnOfUnmatched(logger, mirror, unmatched)
    if (unsupported > 0) logger.warn('left out pipes, sockets or devices', { mirror, paths: unsupported })
  }

  #applyScan(engine: Engine, scan: ScanResult): void {
    const { clock } = engine
    const watch = this.#watch
    this.#problems = new Map()
    this.#isComplete = true
    if (watch && !watch.isBlind && this.#isCovered) this.#countMissed(watch, scan)
    this.#lastScanAt = clock.nowMs()
    if (watch) this.#updateWatch(engine, watch, scan)
    this.#addProblems(scan.problems)
    this.#scannedAtMs = clock.monotonicMs()
    this.hasScanned = true
    if (scan.isRemovalPostponed) this.#scanSoon('files have not settled')
  }

  /** Watches the directories that the scan found, and rescans again those that it read before they were watched. */
  #updateWatch(engine: Engine, watch: MirrorWatch, { unsettled, seenDirectories }: ScanResult): void {
    for (const { path, fingerprint } of unsettled) watch.settler.markUnsettled(path, fingerprint)
    this.#reportBusy(watch, unsettled)
    watch.keepOnly(seenDirectories)
    const unwatched = watch.add([...seenDirectories])
    this.#isCovered = unwatched.length === 0
    this.#planScan(this.#regularScanMs(engine, watch))
    const needsScan = unwatched.length > MAX_HINTS || unwatched.includes('')
    if (needsScan && !this.hasScanned) this.scanNow()
    else if (needsScan) this.#scanSoon('many directories are new')
    else for (const path of unwatched) watch.settler.markChanged(path)
    if (unsettled.length >= MANY_UNSETTLED || watch.settler.isFull)
      this.#scanSoon('more changes than can be remembered')
  }

  #regularScanMs({ clock, random }: Engine, watch: MirrorWatch): number {
    const delayMs = regularScanIntervalMs(this.#settings.scanIntervals, watch.isPolled, random())
    return clock.monotonicMs() + (delayMs ?? Number.POSITIVE_INFINITY)
  }

  /** Records a problem for each busy file, because a file that never settles is never uploaded. */
  #reportBusy({ settler }: MirrorWatch, unsettled: ScanResult['unsettled']): void {
    const busyAfterMs = this.#busyAfterMs
    this.#busy = new Set(unsettled.map(({ path }) => path).filter((path) => settler.waitedMs(path) >= busyAfterMs))
    for (const path of this.#busy) {
      const message = `it has been changing for ${formatDuration(settler.waitedMs(path))}; it is sent once it settles`
      this.#recordProblem({ path, code: 'busy', message })
    }
  }

  get #busyAfterMs(): number {
    return Math.max(this.#settings.scanIntervals.settleMs * BUSY_FACTOR, BUSY_AT_LEAST_MS)
  }

  /** Clears the problems of paths that are about to be read again. */
  #forgetProblems({ store }: Engine, { row }: OpenMirror, settled: readonly string[]): void {
    const toClear = settled.filter((path) => {
      this.#busy.delete(path)
      this.#problems.delete(path)
      return fileErrorCodes.has(store.problems.find(row.id, path)?.code ?? '')
    })
    if (toClear.length > 0) store.write(() => toClear.forEach((path) => void store.problems.clear(row.id, path)))
  }

  /** Records problems. A file that changed while it was read is rescanned once it has settled, even if no watcher reports it. */
  #addProblems(problems: readonly PathProblem[]): void {
    for (const problem of problems) {
      this.#recordProblem(problem)
      if (hasChangedUnderWay(problem.code)) this.rescanSoon(problem.path)
    }
  }

  #recordProblem(problem: PathProblem): void {
    if (this.#problems.size < MAX_PROBLEMS) this.#problems.set(problem.path, problem)
  }

  #countMissed(watch: MirrorWatch, { differing }: ScanResult): void {
    const { clock, logger, metrics } = this.#engine
    const nowMs = clock.nowMs()
    const missed = differing.filter(
      (file) => !watch.settler.covers(file.path) && ageMsOf(file, nowMs) > MISSED_AFTER_MS + watch.delayMs,
    )
    if (missed.length === 0) return
    this.#missed += missed.length
    metrics.watcherMissed(missed.length)
    logger.debug('a scan found changes that the watcher missed', {
      mirror: this.#settings.mirror.name,
      files: missed.length,
    })
  }

  #scanSoon(reason: string): void {
    const { clock, logger } = this.#engine
    const atMs = clock.monotonicMs() + promptScanDelayMs(this.#settings.scanIntervals, this.#lastScanMs)
    if (atMs >= this.#scanAtMs) return
    logger.debug('a scan is needed', { mirror: this.#settings.mirror.name, reason })
    this.#scanAtMs = atMs
    this.#onDue()
  }

  #planScan(atMs: number): void {
    this.regularScanMs = atMs
    this.#scanAtMs = Math.min(this.#scanAtMs, atMs)
  }

  #openRescanner(): Rescanner {
    this.#rescannerIdleAtMs = this.#engine.clock.monotonicMs() + RESCANNER_IDLE_MS
    if (this.#rescanner) return this.#rescanner
    if (!this.#mirror) throw new Error('There is nothing to rescan before the first scan')
    const { settleMs } = this.#settings.scanIntervals
    const options = walkOptions(this.#engine, this.#mirror, { hashEverything: false, isNew: false, settleMs })
    this.#rescanner = this.#engine.openRescanner(options)
    return this.#rescanner
  }

  async #closeRescanner(): Promise<void> {
    const rescanner = this.#rescanner
    this.#rescanner = undefined
    this.#rescannerIdleAtMs = Number.POSITIVE_INFINITY
    await rescanner?.[Symbol.asyncDispose]()
  }
}

/** Replaces the counts that each scan finds anew, and adds up the counts of differences. */
function addScan({ files }: SyncSummary, { files: scanned }: SyncSummary): void {
  const { unchanged, ignored, secrets, unsupported } = scanned
  Object.assign(files, { unchanged, ignored, secrets, unsupported })
  for (const key of ['hashed', 'new', 'changed', 'moved', 'removed', 'leftOut'] as const) files[key] += scanned[key]
}
