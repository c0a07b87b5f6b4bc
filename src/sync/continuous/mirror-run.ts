import { ShelfdError, TemporaryError } from '../../foundation/errors.ts'
import type { PathProblem } from '../../rules/problem-groups.ts'
import { runOutcome, stoppedOutcome } from '../../rules/run-outcome.ts'
import type { SyncSummary } from '../../rules/sync-summary.ts'
import type { Engine, OpenMirror } from '../engine.ts'
import { newAttempts, type QuotaScope } from '../pass.ts'
import { recordRun, stopProblem, summarize } from '../run/summarize.ts'
import { UploadStage } from '../upload/upload-stage.ts'
import type { OpenConnection } from './service-connection.ts'

/** Practically no limit (the longest delay of a timer), because ingestion may stay full for days. */
const MAX_WAIT_MS = 2 ** 31 - 1
const POLLING_FAILED = 'Cannot poll the ingestion of earlier uploads: the service gave no usable answers'

interface RunEnd {
  readonly problems: readonly PathProblem[]
  /** Whether the run scanned the whole tree; earlier problems that it did not find again are then solved. */
  readonly isComplete: boolean
  readonly failure: ShelfdError | undefined
}

interface RunOptions {
  readonly summary: SyncSummary
  /** Called when there is nothing to upload for the moment, and when the upload stage ends. */
  readonly onIdle: () => void
  readonly onUnread: (path: string) => void
  readonly isHeld: () => boolean
}

/** One run of a mirror controller: from the first difference until everything is uploaded. */
export class MirrorRun {
  readonly summary: SyncSummary
  readonly #engine: Engine
  readonly #mirror: OpenMirror
  readonly #options: RunOptions
  readonly #startedMs: number
  #runId: number | undefined
  #stage: UploadStage | undefined
  #uploading: Promise<void> | undefined
  #isOver = false
  #wasWoken = false
  #failure: { readonly error: unknown } | undefined

  constructor(engine: Engine, mirror: OpenMirror, options: RunOptions) {
    this.#engine = engine
    this.#mirror = mirror
    this.#options = options
    this.summary = options.summary
    this.#startedMs = engine.clock.nowMs()
  }

  get isUploading(): boolean {
    return this.#stage !== undefined && !this.#isOver && !this.#stage.isIdle
  }

  throwIfFailed(): void {
    if (this.#failure) throw this.#failure.error
  }

  /** Starts the upload stage, or wakes it; `quotaScope` says which uploads count for the limits of a run. */
  upload(open: OpenConnection, quotaScope: QuotaScope): void {
    if (this.#stage) {
      this.#wasWoken = true
      this.#stage.wake()
      return
    }
    const mirror = { ...this.#mirror, runId: this.#begin() }
    const work = {
      ...this.#options,
      attempts: newAttempts(),
      follower: open.follower,
      waitMs: MAX_WAIT_MS,
      waitForOthersMs: 0,
      quotaScope,
    }
    this.#stage = new UploadStage({ engine: this.#engine, mirror, connection: open.connection }, work)
    this.#uploading = this.#uploadToTheEnd(this.#stage, open)
  }

  /** Whether the upload stage was woken for new files: it may have ended before it uploaded them. */
  get mayHaveMore(): boolean {
    return this.#wasWoken
  }

  get hasUploaded(): boolean {
    return this.#stage !== undefined
  }

  /** Drains the upload stage and records the run. If the stage was never started, records no run and returns false. */
  async finish({ problems, isComplete, failure: reported }: RunEnd): Promise<boolean> {
    this.#stage?.drain()
    await this.#uploading
    const sent = this.#stage?.problems ?? []
    const error = this.#failure?.error
    const failure = reported ?? (error instanceof ShelfdError ? error : undefined)
    const found = { problems: [...problems, ...sent], isComplete, hasFollowed: this.#runId !== undefined, failure }
    const { summary } = this
    const { files } = summary
    files.scanned = files.unchanged + files.new + files.changed + files.moved
    summarize(this.#engine, { ...this.#mirror, runId: this.#runId ?? 0 }, summary, found)
    if (this.#runId === undefined) return false
    const outcome = failure ? stoppedOutcome(failure) : runOutcome([summary], false)
    if (failure && outcome === 'failures') summary.problems.push(stopProblem(failure))
    const durationMs = Math.max(0, this.#engine.clock.nowMs() - this.#startedMs)
    const run = { runId: this.#runId, startedMs: this.#startedMs, durationMs, isDryRun: false }
    recordRun(this.#engine, run, outcome, [summary])
    return true
  }

  /** Never rejects, but keeps an error for `throwIfFailed`. */
  async #uploadToTheEnd(stage: UploadStage, { follower }: OpenConnection): Promise<void> {
    try {
      await stage.run()
      // When the follower has failed, the stage ends without an error.
      if (follower.hasFailed) this.#failure = { error: new TemporaryError('service-unavailable', POLLING_FAILED) }
    } catch (error) {
      this.#failure = { error }
    } finally {
      this.#isOver = true
      this.#options.onIdle()
    }
  }

  #begin(): number {
    const { store } = this.#engine
    const { row } = this.#mirror
    this.#runId ??= store.write(() => {
      const id = store.runs.begin(this.#startedMs)
      store.runs.join(id, row.id)
      store.contents.claimPending(row, id)
      return id
    })
    return this.#runId
  }
}
