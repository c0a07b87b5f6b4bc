import { AutoResetEvent } from '../../foundation/concurrency/auto-reset-event.ts'
import { onAbort } from '../../foundation/concurrency/waits.ts'
import { InterruptedError, ShelfdError } from '../../foundation/errors.ts'
import { openAnsweringRoot } from '../../local/read/open-and-recheck-root.ts'
import { isBatchDone, nextUploadDelayMs, nextWork, pauseAfterHooksMs, type WorkTimes } from '../../rules/next-work.ts'
import { reactToFailure } from '../../rules/react-to-failure.ts'
import { quarantineLeftMs } from '../../rules/retry-delay.ts'
import { emptySummary, type SyncSummary } from '../../rules/sync-summary.ts'
import type { Engine, OpenMirror } from '../engine.ts'
import { hasToFollow } from '../ingestion/follow-ingestion.ts'
import { CAREFUL_PASS, type PassOptions, type QuotaScope } from '../pass.ts'
import { openMirror } from '../pin/open-mirror.ts'
import { createProgress } from '../progress.ts'
import { throwIfHookFailed, withHooks } from '../run/with-hooks.ts'
import { hasToUpload } from '../upload/prepare-uploads.ts'
import { ActivityLog } from './activity-log.ts'
import {
  type ControllerState,
  type ControllerStatus,
  type HoldCode,
  limitReason,
  type WaitReason,
} from './controller-status.ts'
import { MirrorRun } from './mirror-run.ts'
import { MirrorScanner } from './mirror-scanner.ts'
import type { ControllerSettings } from './mirror-watch.ts'
import type { ServiceConnection } from './service-connection.ts'

export const SCHEDULED = 'it sends in batches; the next one is planned'
/** While uploads continue, settled paths are gathered for this time and rescanned together. */
const GATHERING_MS = 40

/** The shortest delay after work that ended because the connection was closed. After a failure of the service it is longer. */
const MIN_DELAY_MS = 2_000

const OPTIONS: PassOptions = { ...CAREFUL_PASS, waitMs: 0 }

/** Keeps one mirror up to date until the engine's signal is aborted. After an error it waits or halts, then tries again. */
export class MirrorController {
  readonly settings: ControllerSettings
  readonly #engine: Engine
  readonly #connection: ServiceConnection
  readonly #scanner: MirrorScanner
  readonly #activity: ActivityLog
  readonly #pauseAfterHooks: PauseAfterHooks
  readonly #wakeUp = new AutoResetEvent()
  readonly #idleListeners = new Set<() => void>()
  readonly #holds = new Map<HoldCode, string>()
  #quiesceCount = 0
  #isWorking = false
  #abort = new AbortController()
  #sendAtMs = 0
  #notBeforeMs = 0
  /** Whether `wake` was called since the current work began. If so, the next work has no delay, even if the current work fails. */
  #wasWoken = false
  #run: MirrorRun | undefined
  #trouble: { readonly state: 'waiting' | 'held' | 'halted'; readonly reason: WaitReason } | undefined
  #verifiedConnection: object | undefined
  #batchStartMs: number | undefined
  #lastSuccessAt: number | null = null

  constructor(engine: Engine, connection: ServiceConnection, settings: ControllerSettings) {
    this.settings = settings
    this.#activity = new ActivityLog(engine, settings.mirror.name)
    this.#engine = { ...engine, progress: createProgress(), fileLog: this.#activity }
    this.#connection = connection
    this.#pauseAfterHooks = new PauseAfterHooks(engine, settings.mirror.name)
    this.#scanner = new MirrorScanner(this.#engine, settings, () => this.#wakeUp.set())
  }

  get name(): string {
    return this.settings.mirror.name
  }

  get status(): ControllerStatus {
    const reason = this.#trouble?.reason ?? this.#holdReason()
    return { state: this.#state(), reason, lastSuccessAt: this.#lastSuccessAt, ...this.#scanner.status }
  }

  /** Holds back uploads until `release` is called with the same code; scanning continues. */
  hold(code: HoldCode, message: string): void {
    this.#holds.set(code, message)
    if (this.#run?.isUploading) this.#abort.abort(new InterruptedError(message))
    this.#wakeUp.set()
  }

  release(code: HoldCode): void {
    if (!this.#holds.delete(code)) return
    this.#sendAtMs = 0
    this.#wakeUp.set()
  }

  /** Scans, uploads and checks ingestion now instead of at the planned times; holds stay in force. */
  wake(): void {
    this.#wasWoken = true
    this.#notBeforeMs = 0
    this.#sendAtMs = 0
    this.#connection.follower?.recheck()
    this.#scanner.scanNow()
    this.#wakeUp.set()
  }

  /** Aborts the current work and starts it again. Call it before the connection is closed. */
  restart(reason: string): void {
    this.#abort.abort(new InterruptedError(reason))
    this.#wakeUp.set()
  }

  /** Call it when the status of the connection has changed. If it is closed, uploads are due at the end of its retry delay. */
  connectionChanged(): void {
    if (this.#connection.follower === undefined) this.#sendAtMs = Math.min(this.#sendAtMs, this.#connection.retryAtMs)
    this.#wakeUp.set()
  }

  /** Runs one batch: scans, uploads everything and returns when that is done, or when `signal` is aborted. */
  async batch(signal: AbortSignal): Promise<void> {
    this.#batchStartMs = this.#engine.clock.monotonicMs()
    const stop = () => {
      this.hold('scheduled', SCHEDULED)
      this.#announceIdle()
    }
    const listening = onAbort(signal, stop)
    this.release('scheduled')
    this.wake()
    await this.#whenDone(signal)
    listening[Symbol.dispose]()
    stop()
    this.#batchStartMs = undefined
  }

  /** Aborts the current work, waits for its end, and starts none until the returned object is disposed of. */
  async quiesce(): Promise<Disposable> {
    this.#quiesceCount += 1
    this.#abort.abort(new InterruptedError('another run goes first'))
    this.#wakeUp.set()
    while (this.#isWorking) await this.#nextIdle()
    return {
      [Symbol.dispose]: () => {
        this.#quiesceCount -= 1
        this.wake()
      },
    }
  }

  async run(): Promise<void> {
    const { signal } = this.#engine
    try {
      for (await this.#waitForWork(); !signal.aborted; await this.#waitForWork()) {
        await this.#workOnce()
        this.#isWorking = false
        this.#announceIdle()
      }
    } finally {
      this.#isWorking = false
      this.#announceIdle()
      this.#activity.flush()
      await this.#scanner[Symbol.asyncDispose]()
    }
  }

  /** Waits until work is due, and sets `#isWorking` in the same step, so that the controller never seems idle in between. */
  async #waitForWork(): Promise<void> {
    const { clock, signal } = this.#engine
    while (!signal.aborted) {
      await this.#scanner.tidy()
      const nowMs = clock.monotonicMs()
      const next = nextWork(this.#workTimes, nowMs)
      if (next.kind === 'work') {
        this.#isWorking = true
        this.#wasWoken = false
        this.#abort = new AbortController()
        return
      }
      this.#announceIdle()
      await this.#wakeUp.waitAtMost(clock, Math.min(next.wakeAtMs, this.#scanner.tidyAtMs) - nowMs, signal)
    }
  }

  get #workTimes(): WorkTimes {
    return {
      scanAtMs: this.#scanner.dueMs,
      uploadAtMs: this.#sendAtMs,
      notBeforeMs: this.#notBeforeMs,
      isQuiesced: this.#quiesceCount > 0,
    }
  }

  async #workOnce(): Promise<void> {
    try {
      await this.#work()
    } catch (error) {
      if (this.#engine.signal.aborted || this.#abort.signal.aborted) this.#scanner.scanNow()
      else await this.#react(error)
    }
  }

  /** Scans and uploads what is due, between the configured commands `before` and `after`. */
  async #work(): Promise<void> {
    const { mirror } = this.settings
    const summary = emptySummary({ ...mirror, library: { id: null, name: mirror.library } })
    this.#pauseAfterHooks.begin()
    await withHooks(this.#engine, mirror, { summary, isDryRun: false }, () => this.#scanAndUpload(summary))
    throwIfHookFailed(summary)
    if (this.#engine.hooks?.has(mirror.name))
      this.#delayUntil(this.#pauseAfterHooks.after(summary, this.#scanner.regularScanMs))
  }

  async #scanAndUpload(summary: SyncSummary): Promise<void> {
    const engine = { ...this.#engine, signal: AbortSignal.any([this.#engine.signal, this.#abort.signal]) }
    using root = await openAnsweringRoot(engine.fs, this.settings.mirror.path, engine)
    const mirror = await openMirror(engine, this.settings.mirror, root, { runId: 0, options: OPTIONS })
    await this.#scanner.open(mirror)
    summary.library = { id: mirror.row.library.remoteId, name: mirror.row.library.name }
    const run = new MirrorRun(engine, mirror, {
      summary,
      onIdle: () => this.#wakeUp.set(),
      onUnread: (path) => this.#scanner.rescanSoon(path),
      isHeld: () => this.#holds.size > 0,
    })
    this.#run = run
    let failure: ShelfdError | undefined
    try {
      await this.#runUntilDone(engine, mirror, run)
    } catch (error) {
      if (error instanceof ShelfdError) failure = error
      throw error
    } finally {
      this.#run = undefined
      if (await run.finish({ ...this.#scanner.takeFindings(), failure })) this.#activity.add(summary)
    }
    // Uploads in flight may have failed while `finish` awaited them.
    run.throwIfFailed()
    this.#recordSuccess(mirror, run)
  }

  /** Repeats scans, uploads and waits until there is nothing to scan or upload. */
  async #runUntilDone(engine: Engine, mirror: OpenMirror, run: MirrorRun): Promise<void> {
    let mustSend = this.#sendAtMs <= engine.clock.monotonicMs()
    const scanned = { ...mirror, verify: () => this.#verify(mirror, undefined) }
    for (;;) {
      if (await this.#scanner.scanDue(engine, scanned, run.summary)) mustSend = true
      if (mustSend) await this.#send(mirror, run)
      mustSend = false
      run.throwIfFailed()
      engine.signal.throwIfAborted()
      const delayMs = this.#scanner.dueMs - engine.clock.monotonicMs()
      if (!run.isUploading && delayMs > 0) return
      await this.#wakeUp.waitAtMost(engine.clock, delayMs, engine.signal)
      if (run.isUploading) await engine.clock.sleep(GATHERING_MS, engine.signal)
    }
  }

  /** Starts uploads, unless they are held back, and in any case follows the ingestion of earlier ones. */
  async #send(mirror: OpenMirror, run: MirrorRun): Promise<void> {
    this.#sendAtMs = Number.POSITIVE_INFINITY
    const { row } = mirror
    const hasToSend = this.#holds.size === 0 && hasToUpload(this.#engine, mirror)
    if (!hasToSend && !hasToFollow(this.#engine, row)) return
    const open = await this.#connection.open()
    await this.#verify(mirror, open.connection)
    open.follower.add(row)
    // `hold` may have been called meanwhile.
    if (hasToSend && this.#holds.size === 0) run.upload(open, this.#quotaScope())
  }

  #quotaScope(): QuotaScope {
    if (this.#batchStartMs !== undefined) return { kind: 'span', sinceMs: this.#batchStartMs }
    const { runSpanMs } = this.settings
    return { kind: 'span', sinceMs: this.#engine.clock.monotonicMs() - runSpanMs, freesAfterMs: runSpanMs }
  }

  /** Verifies the service and the library once per connection. Without a connection, an earlier check suffices, so that scans go on. */
  async #verify(mirror: OpenMirror, connection: object | undefined): Promise<void> {
    const verified = this.#verifiedConnection
    if (verified !== undefined && (connection === undefined || verified === connection)) return
    const current = connection ?? (await this.#connection.open()).connection
    await mirror.verify()
    this.#verifiedConnection = current
  }

  #recordSuccess({ row }: OpenMirror, { summary, hasUploaded: hasSent, mayHaveMore }: MirrorRun): void {
    const { store, clock, logger } = this.#engine
    this.#notBeforeMs = 0
    if (hasSent) this.#connection.recordSuccess()
    if (this.#trouble?.state === 'halted') logger.info('the mirror continues', { mirror: this.name })
    // Only a run that uploads finds out whether a limit still holds back contents.
    const isStillHeld = this.#trouble?.state === 'held' && !hasSent
    if (!isStillHeld) this.#trouble = undefined
    const { uploads, directories } = summary
    const retryAt = store.contents.nextRetryAt(row)
    const retryInMs = retryAt === null ? null : quarantineLeftMs(retryAt, clock.nowMs())
    const delayMs = nextUploadDelayMs({ mayHaveMore, retryInMs, isHeldBack: uploads.heldBack > 0 })
    this.#sendAtMs = Math.min(this.#sendAtMs, clock.monotonicMs() + delayMs)
    const isAllSent = uploads.failed + uploads.inDoubt + directories.failed === 0
    if (uploads.heldBack > 0) this.#setTrouble('held', limitReason(this.name, uploads))
    else if (this.#holds.size === 0 && !isStillHeld && isAllSent) this.#lastSuccessAt = clock.nowMs()
  }

  /** Sets state and delay after an error by the rules for failures; throws an error that stops the daemon. */
  async #react(error: unknown): Promise<void> {
    if (!(error instanceof ShelfdError)) throw error
    const { scope, state, delayMs } = reactToFailure(error)
    if (state === 'stopped') throw error
    const reason = { code: error.code, message: error.message }
    this.#scanner.scanNow()
    this.#sendAtMs = 0
    if (scope === 'service') await this.#connection.recordFailure(error)
    if (scope === 'root') await this.#scanner.close()
    const dueMs = this.#engine.clock.monotonicMs() + (delayMs ?? MIN_DELAY_MS)
    // If `delayMs` is null, the connection is closed, because of this failure or of one that another mirror reported.
    this.#delayUntil(delayMs === null ? Math.max(dueMs, this.#connection.retryAtMs) : dueMs)
    if (delayMs === null) this.#trouble = { state, reason }
    else this.#setTrouble(state, reason)
  }

  #delayUntil(timeMs: number): void {
    if (!this.#wasWoken) this.#notBeforeMs = timeMs
  }

  #setTrouble(state: 'waiting' | 'held' | 'halted', reason: WaitReason): void {
    const isNew = this.#trouble?.reason.code !== reason.code
    if (isNew) this.#engine.logger.warn(`the mirror is ${state}`, { mirror: this.name, ...reason })
    this.#trouble = { state, reason }
  }

  async #whenDone(signal: AbortSignal): Promise<void> {
    const isOver = () => signal.aborted || this.#engine.signal.aborted
    const isDone = () => {
      const awaited = { trouble: this.#trouble?.state, isSettling: this.#scanner.isSettling }
      return isBatchDone(this.#workTimes, awaited, this.#engine.clock.monotonicMs())
    }
    while (!isOver() && (this.#isWorking || !isDone())) await this.#nextIdle()
    while (this.#isWorking) await this.#nextIdle()
  }

  #nextIdle(): Promise<void> {
    return new Promise((resolve) => this.#idleListeners.add(resolve))
  }

  #announceIdle(): void {
    for (const listener of this.#idleListeners) listener()
    this.#idleListeners.clear()
  }

  #state(): ControllerState {
    if (this.#scanner.isScanning) return this.#scanner.hasScanned ? 'scanning' : 'starting'
    if (this.#trouble) return this.#trouble.state
    if (this.#run?.isUploading) return 'sending'
    if (!this.#scanner.hasScanned) return 'starting'
    if (this.#holds.size > 0) return 'held'
    // Work that is not scanning runs commands, compares a few files, connects, sends or records its problems: none of that is "idle".
    return this.#isWorking ? 'sending' : 'idle'
  }

  #holdReason(): WaitReason | null {
    const [first] = this.#holds
    return first ? { code: first[0], message: first[1] } : null
  }
}

/** If a run begins this soon after a pause, it was already due during the pause. */
const AWAITED_MS = 1_000

/** Pauses a mirror after each run with commands, so that commands that change its directory do not cause one run after another. */
class PauseAfterHooks {
  readonly #engine: Pick<Engine, 'clock' | 'logger'>
  readonly #mirror: string
  #durationMs = 0
  #endMs = Number.NEGATIVE_INFINITY
  #wasAwaited = false

  constructor(engine: Pick<Engine, 'clock' | 'logger'>, mirror: string) {
    this.#engine = engine
    this.#mirror = mirror
  }

  begin(): void {
    this.#wasAwaited = this.#engine.clock.monotonicMs() - this.#endMs < AWAITED_MS
  }

  /** Starts the pause after a run. Returns when it ends (monotonic), `latestMs` at the latest. */
  after({ files }: Pick<SyncSummary, 'files'>, latestMs: number): number {
    const { clock, logger } = this.#engine
    const hasFound = files.new + files.changed + files.moved + files.removed > 0
    const lastPauseMs = this.#durationMs
    this.#durationMs = pauseAfterHooksMs({ lastPauseMs, wasAwaited: this.#wasAwaited, hasFound })
    this.#endMs = Math.min(latestMs, clock.monotonicMs() + this.#durationMs)
    if (lastPauseMs > 0 && this.#durationMs > lastPauseMs) {
      const fields = { mirror: this.#mirror, waitsMs: this.#durationMs }
      logger.info('the commands of the mirror seem to change its directory; the next run that they cause waits', fields)
    }
    return this.#endMs
  }
}
