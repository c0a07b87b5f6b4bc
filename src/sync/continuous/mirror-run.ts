import { type ShelfdError, TemporaryError } from '../../foundation/errors.ts'
import type { SyncSummary } from '../../rules/sync-summary.ts'
import { recordedVerdict, runOutcome, stoppedOutcome, verdictOf } from '../../rules/verdict.ts'
import type { Engine, OpenMirror } from '../engine.ts'
import type { PathProblem } from '../observe/observation.ts'
import { newAttempts } from '../pass.ts'
import { summarize } from '../run/summarize.ts'
import { UploadStage } from '../upload/upload-stage.ts'
import type { OpenConnection } from './service-connection.ts'

/** Room in ingestion may take days to come. */
const WAIT_MS = 2 ** 31 - 1
const POLLING_FAILED = 'The service did not say how the ingestion of earlier uploads goes on'

interface RunEnd {
  readonly problems: readonly PathProblem[]
  /** The whole tree was looked at, so that problems not found any more are over. */
  readonly isComplete: boolean
  /** What stopped it. */
  readonly failure: ShelfdError | undefined
}

/** One run of a mirror that is kept up to date: from the first difference until there is nothing left to send. */
export class MirrorRun {
  readonly summary: SyncSummary
  readonly #engine: Engine
  readonly #mirror: OpenMirror
  readonly #startedAt: number
  readonly #onIdle: () => void
  #runId: number | undefined
  #stage: UploadStage | undefined
  #uploading: Promise<readonly PathProblem[]> | undefined
  #isOver = false
  #wasWoken = false
  #failure: { readonly error: unknown } | undefined

  /** `onIdle` is called when nothing is left to send for the moment, and when sending failed. */
  constructor(engine: Engine, mirror: OpenMirror, summary: SyncSummary, onIdle: () => void) {
    this.#engine = engine
    this.#mirror = mirror
    this.summary = summary
    this.#startedAt = engine.clock.nowMs()
    this.#onIdle = onIdle
  }

  get isUploading(): boolean {
    return this.#stage !== undefined && !this.#isOver && !this.#stage.isIdle
  }

  /** Throws what made sending fail. */
  assertWell(): void {
    if (this.#failure) throw this.#failure.error
  }

  /** Sends what there is to send, now or as soon as what is under way leaves room. */
  upload(line: OpenConnection, sinceMs: number): void {
    if (this.#stage) {
      this.#wasWoken = true
      this.#stage.wake()
      return
    }
    const mirror = { ...this.#mirror, runId: this.#begin() }
    const { summary } = this
    const work = {
      attempts: newAttempts(),
      summary,
      follower: line.follower,
      waitMs: WAIT_MS,
      quotaScope: { kind: 'span', sinceMs } as const,
      onIdle: this.#onIdle,
    }
    this.#stage = new UploadStage(this.#engine, mirror, line.connection, work)
    this.#uploading = this.#uploadToTheEnd(this.#stage, line)
  }

  /** More came while it was sending, and it may have ended before it looked at that. */
  get mayHaveLeft(): boolean {
    return this.#wasWoken
  }

  /** Whether anything was asked of the service. */
  get hasUploaded(): boolean {
    return this.#stage !== undefined
  }

  /** Ends what is under way and accounts for the run; gives false for one in which nothing happened. */
  async finish({ problems, isComplete, failure }: RunEnd): Promise<boolean> {
    const { store, clock } = this.#engine
    this.#stage?.drain()
    const sent = (await this.#uploading) ?? []
    const found = { problems: [...problems, ...sent], isComplete, hasFollowed: this.#runId !== undefined }
    const { summary } = this
    const { files } = summary
    files.scanned = files.unchanged + files.new + files.changed + files.moved
    summarize(this.#engine, { ...this.#mirror, runId: this.#runId ?? 0 }, summary, found)
    if (this.#runId === undefined) return false
    const outcome = failure ? stoppedOutcome(failure) : runOutcome([summary], false)
    if (failure && outcome === 'failures')
      summary.problems.push({ path: '', code: failure.code, message: failure.message, retryAt: null })
    const finishedAt = clock.nowMs()
    const account = {
      run: this.#runId,
      verdict: verdictOf(outcome),
      startedAt: new Date(this.#startedAt).toISOString(),
      finishedAt: new Date(finishedAt).toISOString(),
      durationMs: Math.max(0, finishedAt - this.#startedAt),
      mirrors: [summary],
    }
    const runId = this.#runId
    store.write(() => store.runs.finish(runId, recordedVerdict(outcome), account, finishedAt))
    return true
  }

  /** Never rejects: what made sending fail is kept for `assertWell`. */
  async #uploadToTheEnd(stage: UploadStage, { follower }: OpenConnection): Promise<readonly PathProblem[]> {
    try {
      const problems = await stage.run()
      // Uploads end quietly where nobody follows them any more.
      if (follower.hasFailed) this.#failure = { error: new TemporaryError('service-unavailable', POLLING_FAILED) }
      return problems
    } catch (error) {
      this.#failure = { error }
      return []
    } finally {
      this.#isOver = true
      this.#onIdle()
    }
  }

  #begin(): number {
    const { store } = this.#engine
    const { row } = this.#mirror
    this.#runId ??= store.write(() => {
      const id = store.runs.begin(this.#startedAt)
      store.runs.join(id, row.id)
      store.contents.claimPending(row, id)
      return id
    })
    return this.#runId
  }
}
