import type { Timer } from '../../foundation/clock.ts'
import { contestedIds } from '../../rules/decide-upload.ts'
import type { PathProblem } from '../../rules/problem-groups.ts'
import type { Engine, OpenMirror } from '../engine.ts'
import type { UploadResult } from './upload-one.ts'
import type { Intent, UploadPlan } from './upload-plan.ts'
import { type RecorderOptions, UploadRecorder } from './upload-recorder.ts'

const COMMIT_INTERVAL_MS = 40

/** For how many commit intervals intents are planned ahead, because a commit costs as much as several uploads. */
const INTERVALS_AHEAD = 2
const MAX_AHEAD = 256

interface BatcherOptions extends RecorderOptions {
  readonly onCommitted: (results: readonly UploadResult[]) => void
  readonly onDue: () => void
}

/** Commits intents and receipts together: one transaction writes the results of uploads and takes the next intents of the plan. */
export class UploadBatcher implements Disposable {
  readonly #engine: Engine
  readonly #mirror: OpenMirror
  readonly #plan: UploadPlan
  /** Resource ids that answers gave for different contents. An answer with one of them is no receipt, not even in a later batch. */
  readonly #contested = new Set<string>()
  readonly #recorder: UploadRecorder
  readonly #options: BatcherOptions
  readonly #waiting = new Set<Intent>()
  /** Contents that this batcher put into `engine.inFlight`. */
  readonly #ownInFlight = new Set<number>()
  #ended: { readonly intent: Intent; readonly result: UploadResult }[] = []
  #inFlight = 0
  #lastCommitMs = 0
  #begun = 0
  /** The most intents that may wait: a few for each transfer, or as many as begin within the next two commits. */
  #maxWaiting: number
  #timer: Timer | undefined
  #isDue = false

  constructor(engine: Engine, mirror: OpenMirror, plan: UploadPlan, options: BatcherOptions) {
    this.#engine = engine
    this.#mirror = mirror
    this.#plan = plan
    this.#recorder = new UploadRecorder(engine, mirror, options)
    this.#options = options
    this.#maxWaiting = this.#minAhead
  }

  get #minAhead(): number {
    return Math.min(this.#engine.uploads.concurrency * 4, MAX_AHEAD)
  }

  get problems(): PathProblem[] {
    return this.#recorder.problems
  }

  get inFlight(): number {
    return this.#inFlight
  }

  get size(): number {
    return this.#waiting.size + this.#inFlight + this.#ended.length
  }

  /** True when more intents must be planned, early enough that no upload waits for the disk. */
  get wantsMore(): boolean {
    const { isExhausted, isWaiting } = this.#plan
    return this.#waiting.size < this.#engine.uploads.concurrency && !isExhausted && !isWaiting
  }

  get wantsCommit(): boolean {
    return this.#isLast || this.wantsMore
  }

  get #isLast(): boolean {
    return this.#waiting.size === 0 && this.#inFlight === 0
  }

  /** Commits due results and plans new intents, at most `capacity`. Returns the new intents. */
  commitIfDue(capacity: number): Intent[] {
    const hasToCommit = this.#ended.length > 0 && (this.#isDue || this.#isLast)
    const room = this.#plan.isExhausted ? 0 : Math.min(capacity, this.#maxWaiting - this.#waiting.size)
    return hasToCommit || (this.wantsMore && room > 0) ? this.#commit(Math.max(0, room)) : []
  }

  /** Counts the upload as in flight; its intent must not have been given back. */
  begin(intent: Intent): void {
    this.#waiting.delete(intent)
    this.#inFlight += 1
    this.#begun += 1
  }

  end(intent: Intent, result: UploadResult): void {
    this.#ended.push({ intent, result })
    this.#inFlight -= 1
    // The timer commits results in time, however long the next upload takes.
    this.#timer ??= this.#startTimer()
  }

  /** Gives back the intents that have not begun, and commits results. */
  release(): void {
    const intents = [...this.#waiting]
    this.#waiting.clear()
    if (intents.length > 0) {
      this.#write(() => intents.forEach((intent) => void this.#recorder.recordNotSent(intent)))
      for (const { contentId } of intents) this.#forget(contentId)
    }
    if (this.#ended.length > 0) this.#commit(0)
  }

  /** An upload whose result could not be committed stays `sending` in the store, and is in doubt. */
  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]()
    for (const contentId of this.#ownInFlight) this.#forget(contentId)
  }

  #startTimer(): Timer {
    const { clock } = this.#engine
    const dueInMs = this.#lastCommitMs + COMMIT_INTERVAL_MS - clock.monotonicMs()
    return clock.startTimer(Math.max(0, dueInMs), () => {
      this.#isDue = true
      this.#options.onDue()
    })
  }

  #commit(room: number): Intent[] {
    // Once the root has moved, this throws, so that no intents are planned; `release` commits the results.
    if (room > 0) this.#mirror.root.assertInPlace()
    const ended = this.#ended
    this.#timer?.[Symbol.dispose]()
    this.#timer = undefined
    this.#isDue = false
    let intents: Intent[] = []
    const named = ended.flatMap(({ intent: { sha256 }, result }) => {
      return result.kind === 'stored' ? [{ resourceId: result.resourceId, sha256 }] : []
    })
    for (const id of contestedIds(named)) this.#contested.add(id)
    this.#write(() => {
      for (const { intent, result } of ended) {
        this.#recorder.recordResult(intent, result, this.#contested)
        if (result.kind === 'not-sent') this.#plan.substitute(intent)
      }
      intents = room > 0 ? this.#plan.planNext(room) : []
    })
    this.#ended = []
    for (const { intent } of ended) this.#forget(intent.contentId)
    for (const intent of intents) {
      this.#waiting.add(intent)
      this.#ownInFlight.add(intent.contentId)
      this.#engine.inFlight.add(intent.contentId)
    }
    this.#measurePace()
    if (ended.length > 0) this.#options.onCommitted(ended.map(({ result }) => result))
    return intents
  }

  #write(work: () => void): void {
    try {
      this.#engine.store.write(work)
    } catch (error) {
      this.#recorder.rolledBack()
      throw error
    }
    this.#recorder.committed()
  }

  #measurePace(): void {
    const { clock } = this.#engine
    const nowMs = clock.monotonicMs()
    const perInterval = (this.#begun * COMMIT_INTERVAL_MS) / Math.max(1, nowMs - this.#lastCommitMs)
    const ahead = Math.min(MAX_AHEAD, Math.ceil(perInterval * INTERVALS_AHEAD))
    this.#maxWaiting = Math.max(this.#minAhead, ahead)
    this.#begun = 0
    this.#lastCommitMs = nowMs
  }

  #forget(contentId: number): void {
    if (this.#ownInFlight.delete(contentId)) this.#engine.inFlight.delete(contentId)
  }
}
