import { Bell } from '../../foundation/bell.ts'
import type { SyncSummary } from '../../rules/sync-summary.ts'
import { assertLibraryRemains, isDirectoryGone } from '../directories/missing-place.ts'
import type { Connection, Engine, OpenMirror } from '../engine.ts'
import type { IngestionCapacity } from '../ingestion/ingestion-capacity.ts'
import type { PathProblem } from '../observe/observation.ts'
import type { RunAttempts } from '../pass.ts'
import { UploadAccount } from './upload-account.ts'
import { type UploadResult, uploadOne } from './upload-one.ts'
import type { Intent, UploadQueue } from './upload-queue.ts'

interface Ended {
  readonly intent: Intent
  readonly result: UploadResult
}

/** Outcomes are committed together when so much time has passed since the last commit, or when nothing else is ready. */
const COMMIT_PAUSE_MS = 40

/**
 * Sends what the queue gives, `transfers` at once, and never more into ingestion than `inIngestion`. Intents and outcomes
 * share their commits: one transaction takes the next intents and writes what ended since.
 */
export class Uploader {
  /** Contents that found no room in ingestion. */
  heldBack = 0
  readonly #engine: Engine
  readonly #mirror: OpenMirror
  readonly #connection: Connection
  readonly #gate: IngestionCapacity
  readonly #bell = new Bell()
  readonly #queue: UploadQueue
  /** By path: while it is kept open the same may be met again and again. */
  readonly #account: UploadAccount
  readonly #waitMs: number
  readonly #onIdle: () => void
  #mayEnd = true
  #ready: Intent[] = []
  #ended: Ended[] = []
  #underWay = 0
  #lastCommitMs = 0
  /** What this one has put among the contents under way. */
  readonly #taken = new Set<number>()
  #fatal: { readonly error: unknown } | undefined
  #libraryCheck: Promise<void> | undefined
  /** Directories that were looked for after a refusal, and found. */
  readonly #present = new Set<number>()
  readonly #attempts: RunAttempts
  readonly #onDirectoryGone: () => void

  constructor(
    engine: Engine,
    mirror: OpenMirror,
    connection: Connection,
    work: {
      readonly queue: UploadQueue
      readonly gate: IngestionCapacity
      readonly summary: SyncSummary
      readonly attempts: RunAttempts
      /** How long to wait for room in ingestion. */
      readonly waitMs: number
      /** Called when there is nothing to do for the moment. */
      readonly onIdle?: () => void
      /** Called when a directory is to be made again before its files can be sent. */
      readonly onDirectoryGone: () => void
    },
  ) {
    this.#engine = engine
    this.#mirror = mirror
    this.#connection = connection
    this.#queue = work.queue
    this.#gate = work.gate
    this.#account = new UploadAccount(engine, mirror, work, work.queue.links)
    this.#waitMs = work.waitMs
    this.#attempts = work.attempts
    this.#onDirectoryGone = work.onDirectoryGone
    this.#onIdle = work.onIdle ?? (() => {})
  }

  get problems(): PathProblem[] {
    return this.#account.problems
  }

  /** Nothing is ready or under way, and the queue has nothing more. */
  get isIdle(): boolean {
    return this.#isAtRest && this.#queue.isExhausted && this.#ended.length === 0
  }

  /** From now on `run` doesn't end when it is idle: more may come. */
  keepOpen(): void {
    this.#mayEnd = false
  }

  /** `run` ends when it is idle. */
  finish(): void {
    this.#mayEnd = true
    this.#bell.ring()
  }

  /** There may be more to send. */
  ring(): void {
    this.#queue.renew()
    this.#bell.ring()
  }

  /** Throws what stopped it (credential, service, interruption) after everything under way has ended and is committed. */
  async run(): Promise<void> {
    try {
      await this.#run()
    } finally {
      // What could not be written stays `sending` in the store, and is in doubt from now on.
      for (const contentId of this.#taken) this.#noteEnded(contentId)
    }
  }

  async #run(): Promise<void> {
    const { signal, lanes } = this.#engine
    const ring = () => {
      this.#bell.ring()
    }
    using _room = this.#gate.onCapacity(ring)
    using _lane = lanes.onFree(ring)
    signal.addEventListener('abort', ring, { once: true })
    await this.#sendAll()
    // Released at once: whoever ends the process now leaves no doubt beyond the uploads that were under way.
    this.#release()
    while (this.#underWay > 0) {
      await this.#bell.wait()
      this.#release()
    }
    signal.removeEventListener('abort', ring)
    if (this.#fatal) throw this.#fatal.error
    signal.throwIfAborted()
  }

  get #isAtRest(): boolean {
    return this.#underWay === 0 && this.#ready.length === 0
  }

  async #sendAll(): Promise<void> {
    while (!this.#isStopping()) {
      this.#commitIfDue()
      this.#startReady()
      if (this.isIdle) this.#onIdle()
      if (this.isIdle && this.#mayEnd) return
      if (!this.#isAtRest || this.#queue.isExhausted) await this.#waitForNews()
      // What could not be sent at all leaves its room at once.
      else if (this.#room() <= 0 && !(await this.#waitForRoom())) return
    }
  }

  /** What ended is committed when it is due, however long the next upload takes to end. */
  async #waitForNews(): Promise<void> {
    const { clock } = this.#engine
    if (this.#ended.length === 0) await this.#bell.wait()
    else await this.#bell.waitAtMost(clock, this.#lastCommitMs + COMMIT_PAUSE_MS - clock.monotonicMs())
  }

  /** Ingestion is full: waits as long as the run would wait for it; false when nothing left it in that time. */
  async #waitForRoom(): Promise<boolean> {
    const isTimeUp = await this.#bell.waitAtMost(this.#engine.clock, this.#waitMs)
    if (!isTimeUp) return true
    this.heldBack = this.#engine.store.contents.countToSend(this.#mirror.row.id).n
    return false
  }

  #isStopping(): boolean {
    return this.#fatal !== undefined || this.#gate.hasFailed || this.#engine.signal.aborted
  }

  #startReady(): void {
    const { lanes } = this.#engine
    while (this.#ready.length > 0 && lanes.tryEnter()) {
      this.#underWay += 1
      for (const intent of this.#ready.splice(-1)) void this.#send(intent)
    }
  }

  async #send(intent: Intent): Promise<void> {
    const result = await this.#sendToDirectory(intent)
    if (result.kind === 'fatal') this.#fatal ??= { error: result.error }
    this.#ended.push({ intent, result })
    this.#underWay -= 1
    this.#engine.lanes.leave()
    this.#bell.ring()
  }

  /** Nothing is sent to a directory that is known to be gone. */
  async #sendToDirectory(intent: Intent): Promise<UploadResult> {
    if (this.#attempts.goneDirectories.has(intent.directoryId)) return { kind: 'no-directory' }
    const result = await uploadOne(this.#engine, this.#mirror, this.#connection, intent)
    return result.kind === 'refused' ? await this.#examineRefusal(intent, result) : result
  }

  /** A refusal may be that of the library or of a directory, which are gone, and of no file. */
  async #examineRefusal(intent: Intent, refusal: Extract<UploadResult, { kind: 'refused' }>): Promise<UploadResult> {
    if (this.#fatal) return { kind: 'fatal', error: this.#fatal.error }
    const { directoryId, directory, isLink } = intent
    const mayMeanDirectory = refusal.code === 'not-found' || refusal.code === 'invalid'
    try {
      if (refusal.code === 'not-found') await this.#checkLibrary()
      const isTold = isLink || this.#present.has(directoryId) || this.#attempts.remadeDirectories.has(directoryId)
      if (!mayMeanDirectory || isTold) return refusal
      const isGone = await isDirectoryGone(this.#engine, this.#mirror, this.#connection, directory)
      const found = isGone ? this.#attempts.goneDirectories : this.#present
      found.add(directoryId)
      return isGone ? { kind: 'no-directory' } : refusal
    } catch (error) {
      return { kind: 'fatal', error }
    }
  }

  /** One check for all that are refused at the same time. */
  #checkLibrary(): Promise<void> {
    this.#libraryCheck ??= assertLibraryRemains(this.#mirror, this.#connection, this.#engine.signal).then(() => {
      this.#libraryCheck = undefined
    })
    return this.#libraryCheck
  }

  #commitIfDue(): void {
    // Sooner than the last one is begun, so that no lane waits for the disk.
    const wantsMore = this.#ready.length < this.#engine.limits.transfers && !this.#queue.isExhausted
    const isDue = this.#engine.clock.monotonicMs() - this.#lastCommitMs >= COMMIT_PAUSE_MS
    const hasEnded = this.#ended.length > 0
    const isLast = this.#ready.length === 0 && this.#underWay === 0
    const room = wantsMore ? this.#room() : 0
    if (room > 0 || (hasEnded && (isDue || isLast))) this.#commit(room)
  }

  #room(): number {
    const { transfers, inIngestion } = this.#engine.limits
    const inUse = this.#gate.countPending() + this.#ready.length + this.#underWay + this.#ended.length
    return Math.min(transfers * 4, inIngestion - inUse)
  }

  #commit(take: number): void {
    const ended = this.#ended
    this.#ended = []
    let taken: Intent[] = []
    this.#engine.store.write(() => {
      for (const { intent, result } of ended) {
        this.#account.recordEnd(intent, result)
        if (result.kind === 'not-sent' && !intent.isLink) this.#queue.passOver(intent)
      }
      taken = take > 0 ? this.#queue.take(take) : []
    })
    this.#account.tellSent()
    for (const { intent } of ended) this.#noteEnded(intent.contentId)
    if (ended.some(({ result }) => result.kind === 'no-directory')) this.#onDirectoryGone()
    for (const { contentId } of taken) this.#noteUnderWay(contentId)
    this.#ready.unshift(...taken.reverse())
    this.#lastCommitMs = this.#engine.clock.monotonicMs()
    if (ended.length > 0) this.#gate.wake()
  }

  #noteUnderWay(contentId: number): void {
    this.#taken.add(contentId)
    this.#engine.underWay.add(contentId)
  }

  #noteEnded(contentId: number): void {
    if (this.#taken.delete(contentId)) this.#engine.underWay.delete(contentId)
  }

  /** Commits what ended, and gives back the intents that were never begun. */
  #release(): void {
    const { store } = this.#engine
    const ready = this.#ready
    this.#ready = []
    if (ready.length > 0) store.write(() => ready.forEach((intent) => void this.#account.recordNotSent(intent)))
    if (this.#ended.length > 0) this.#commit(0)
  }
}
