import { AutoResetEvent } from '../../foundation/concurrency/auto-reset-event.ts'
import { forEachConcurrently } from '../../foundation/concurrency/for-each-concurrently.ts'
import { reactToFailure } from '../../rules/failure/react-to-failure.ts'
import { pollIntervalMs } from '../../rules/ingestion/poll-interval.ts'
import type { PendingResource } from '../../store/tables/contents.ts'
import type { MirrorRow } from '../../store/tables/mirrors.ts'
import type { Connection, Engine, StoreContext } from '../engine.ts'
import { isServiceWell } from '../item-failure.ts'
import { quarantineUntil } from '../quarantine.ts'
import type { IngestionCapacity } from './ingestion-capacity.ts'
import { readWarnings } from './ingestion-note.ts'
import { NextLook } from './next-look.ts'
import { type PollAnswer, type PollFailure, pollResource } from './poll-resource.ts'

/** What following ingestion needs. */
export type IngestionContext = StoreContext &
  Pick<Engine, 'random' | 'limits' | 'pollIntervals' | 'logger' | 'progress' | 'metrics' | 'signal'>

interface Followed extends Omit<PendingResource, 'hasProblem'> {
  hasProblem: number
  readonly mirror: MirrorRow
  readonly sinceMs: number
  /** When its state was last written to the store (monotonic). */
  writtenMs: number
  writtenStatus: string | null
  polls: number
  /** Polls in a row that failed for a reason of this resource alone. */
  failures: number
  dueMs: number
  /** It is overdue, and the listeners for capacity were called. */
  hasLeftRoom: boolean
}

/** A followed mirror, and the last of its pending resources that was read from the store. */
interface FollowedMirror {
  readonly row: MirrorRow
  lastSeq: number
}

type Answer = PollAnswer & { readonly followed: Followed }
type FailedPoll = PollFailure & { readonly followed: Followed }

/** After so many failed polls in a row, a resource has a problem, and is polled again after a quarantine. */
const MOST_FAILURES = 5

/** Resources that become due within so long are polled in one round. */
const GATHERING_MS = 20

/** The most resources polled in one round, and rows read from the store at once. */
const ROUND = 256

/** After a round in which nothing ended, the follower waits, so that thousands of slow resources cost no more than this. */
const FRUITLESS_POLLS_PER_SECOND = 50

/** The least interval between two writes for a pending resource whose status has not changed. */
const WRITE_SEEN_MS = 30_000

/**
 * Polls the resources of mirrors until each has a final state (interface 3.1), at growing intervals, longest due first. What
 * is still pending at the end keeps its id and is polled by a later run; it is never uploaded again (P5).
 */
export class IngestionFollower implements IngestionCapacity {
  readonly #engine: IngestionContext
  readonly #connection: Connection
  readonly #wakeUp = new AutoResetEvent()
  readonly #mirrors = new Map<number, FollowedMirror>()
  readonly #followed = new Map<number, Followed>()
  readonly #listeners = new Set<() => void>()
  /** Mirrors that may have resources whose warnings an earlier version did not keep. */
  readonly #unread = new Set<number>()
  #mayEnd = false
  #hasFailed = false
  /** The count of `countNewlyPending` when pending resources were last read from the store. */
  #takenUpTo = -1
  #stopAtMs = Number.POSITIVE_INFINITY
  readonly #nextLook: NextLook

  constructor(engine: IngestionContext, connection: Connection) {
    this.#engine = engine
    this.#connection = connection
    this.#nextLook = new NextLook(engine.clock)
  }

  /** Follows the mirror's resources as well. */
  add(row: MirrorRow): void {
    if (this.#mirrors.has(row.id)) return
    this.#mirrors.set(row.id, { row, lastSeq: 0 })
    this.#unread.add(row.id)
    this.#takenUpTo = -1
    this.lookAgain()
  }

  /** Stops following the mirror's resources, because another run follows them. */
  remove(mirrorId: number): void {
    this.#mirrors.delete(mirrorId)
    this.#unread.delete(mirrorId)
    for (const [id, { mirror }] of this.#followed) if (mirror.id === mirrorId) this.#followed.delete(id)
  }

  wake(): void {
    this.#wakeUp.set()
  }

  /** Checks now for resources that ended badly and are due, instead of at the planned time. */
  lookAgain(): void {
    this.#nextLook.demand()
    this.#wakeUp.set()
  }

  countPending(): number {
    this.#takeNew()
    let overdue = 0
    // The map is in the order of insertion: the longest followed come first.
    for (const followed of this.#followed.values()) {
      if (!this.#isOverdue(followed)) break
      overdue += 1
    }
    return this.#followed.size - overdue
  }

  onCapacity(listener: () => void): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) }
  }

  /** No more resources will come: lets `run` end when all are final, or after `waitMs`. */
  finish(waitMs: number): void {
    this.#mayEnd = true
    this.#stopAtMs = this.#engine.clock.monotonicMs() + waitMs
    this.#wakeUp.set()
  }

  get hasFailed(): boolean {
    return this.#hasFailed
  }

  /** Polls until `finish` lets it end or the signal is aborted; a failure also calls the listeners for capacity. */
  async run(): Promise<void> {
    try {
      await this.#follow()
    } catch (error) {
      this.#hasFailed = true
      this.#announceCapacity()
      throw error
    }
  }

  /** Each round takes what is due or new from the store, reads old warnings, and polls what is due or waits. */
  async #follow(): Promise<void> {
    const { clock, signal } = this.#engine
    while (!signal.aborted && clock.monotonicMs() < this.#stopAtMs) {
      this.#lookAgain()
      this.#takeNew()
      await this.#readWarnings()
      const isIdle = this.#followed.size === 0 && this.#unread.size === 0
      if (isIdle && this.#mayEnd) return
      const due = this.#listDue(clock.monotonicMs())
      if (due.length === 0 && this.#unread.size > 0) continue
      if (due.length === 0) await this.#waitUntil(this.#nextDueMs() + GATHERING_MS)
      else if ((await this.#poll(due)) === 0)
        await this.#waitUntil(clock.monotonicMs() + (due.length * 1_000) / FRUITLESS_POLLS_PER_SECOND)
    }
  }

  /** Resources that ended badly may have been repaired since: polls each again when its quarantine is over. */
  #lookAgain(): void {
    const { store, clock } = this.#engine
    if (!this.#nextLook.isDue) return
    this.#nextLook.postpone()
    for (const { row } of this.#mirrors.values()) {
      this.#nextLook.schedule(store.contents.nextLookAt(row.id, clock.nowMs()))
      for (const resource of store.contents.listDueForAnotherLook(row.id, clock.nowMs())) {
        if (!this.#followed.has(resource.contentId)) this.#take(row, resource, 0)
      }
    }
  }

  /** Reads a part of the warnings that an earlier version did not keep. */
  async #readWarnings(): Promise<void> {
    for (const { row } of this.#mirrors.values()) {
      if (this.#unread.has(row.id) && !(await readWarnings(this.#engine, this.#connection, row))) {
        this.#unread.delete(row.id)
      }
    }
  }

  #takeNew(): void {
    const changes = this.#engine.store.contents.countNewlyPending()
    if (changes === this.#takenUpTo) return
    this.#takenUpTo = changes
    for (const mirror of this.#mirrors.values()) this.#takeNewOf(mirror)
    this.#engine.progress.inIngestion = this.#followed.size
  }

  #takeNewOf(mirror: FollowedMirror): void {
    const { store, clock, random, pollIntervals } = this.#engine
    for (;;) {
      const fresh = store.contents.listPending(mirror.row, mirror.lastSeq, ROUND)
      for (const resource of fresh) {
        const isOld = resource.uploadedAt < clock.nowMs() - pollIntervals.maxPollMs
        const delayMs = isOld ? 0 : pollIntervalMs({ polls: 0, isOverdue: false }, pollIntervals, random())
        this.#take(mirror.row, resource, delayMs)
        mirror.lastSeq = resource.storedSeq
      }
      if (fresh.length < ROUND) return
    }
  }

  #take(mirror: MirrorRow, resource: PendingResource, delayMs: number): void {
    const sinceMs = this.#engine.clock.monotonicMs()
    const unwritten = { writtenMs: Number.NEGATIVE_INFINITY, writtenStatus: null }
    const begun = { mirror, sinceMs, polls: 0, failures: 0, dueMs: sinceMs + delayMs, hasLeftRoom: false }
    const followed = { ...resource, ...unwritten, ...begun }
    this.#followed.set(resource.contentId, followed)
  }

  #listDue(nowMs: number): Followed[] {
    const due: Followed[] = []
    for (const followed of this.#followed.values()) if (followed.dueMs <= nowMs) due.push(followed)
    return due.sort((a, b) => a.dueMs - b.dueMs).slice(0, ROUND)
  }

  /** An overdue resource no longer takes up capacity, and is polled less often. */
  #isOverdue({ sinceMs }: Followed): boolean {
    const { clock, pollIntervals } = this.#engine
    return clock.monotonicMs() - sinceMs > pollIntervals.deadlineMs
  }

  #nextDueMs(): number {
    let nextMs = this.#nextLook.atMs
    for (const { dueMs } of this.#followed.values()) nextMs = Math.min(nextMs, dueMs)
    return nextMs
  }

  async #waitUntil(nextMs: number): Promise<void> {
    const { clock, signal } = this.#engine
    const delayMs = Math.max(1, Math.min(nextMs, this.#stopAtMs) - clock.monotonicMs())
    await this.#wakeUp.waitAtMost(clock, delayMs, signal)
  }

  /** Polls each resource once; returns the number of those whose ingestion ended. */
  async #poll(due: readonly Followed[]): Promise<number> {
    const answers: Answer[] = []
    const failed: FailedPoll[] = []
    try {
      await forEachConcurrently(due, this.#engine.limits.checkers, async (followed) => {
        if (this.#engine.signal.aborted) return
        const answer = await this.#ask(followed)
        if ('error' in answer) failed.push(answer)
        else answers.push(answer)
      })
    } finally {
      this.#record(answers)
    }
    for (const poll of failed) await this.#bear(poll, answers.length > 0)
    return answers.filter(({ outcome }) => outcome !== 'pending').length
  }

  /** Postpones or quarantines a resource that cannot be polled; throws if the service as a whole fails. */
  async #bear({ followed, error }: FailedPoll, othersAnswered: boolean): Promise<void> {
    const { store, signal, logger } = this.#engine
    const needed = { libraryId: followed.mirror.library.remoteId, right: 'read' } as const
    const isOfItem = othersAnswered || reactToFailure(error).scope === 'item'
    if (!isOfItem && !(await isServiceWell(this.#connection, needed, signal))) throw error
    followed.failures += 1
    if (followed.failures < MOST_FAILURES) {
      this.#postpone(followed)
      return
    }
    const { contentId, resourceId } = followed
    this.#followed.delete(contentId)
    const retryAt = quarantineUntil(this.#engine, contentId, error.code)
    store.write(() => store.contents.setProblem(contentId, { code: error.code, message: error.message, retryAt }))
    this.#nextLook.schedule(retryAt)
    logger.warn('cannot poll a resource in ingestion; it is polled again later', {
      resourceId,
      code: error.code,
      reason: error.message,
    })
    this.#announceCapacity()
  }

  async #ask(followed: Followed): Promise<Answer | FailedPoll> {
    const { library } = followed.mirror
    const poll = await pollResource(this.#connection, library.remoteId, followed.resourceId, this.#engine.signal)
    return { followed, ...poll }
  }

  #record(answers: readonly Answer[]): void {
    const { store, progress } = this.#engine
    const ended = answers.filter(({ outcome }) => outcome !== 'pending')
    const seen = answers.filter((answer) => this.#isNews(answer))
    // Relaxed, because resources that a power cut turns back to pending are polled again.
    if (ended.length + seen.length > 0) {
      store.writeRelaxed(() => {
        for (const answer of ended) this.#recordEnd(answer)
        for (const answer of seen) this.#recordSeen(answer)
      })
    }
    for (const { followed, outcome } of answers) {
      if (outcome !== 'pending') this.#followed.delete(followed.contentId)
      else {
        followed.failures = 0
        this.#postpone(followed)
      }
    }
    progress.inIngestion = this.#followed.size
    if (ended.length > 0) this.#announceCapacity()
  }

  #isNews({ followed, outcome, status }: Answer): boolean {
    if (outcome !== 'pending') return false
    const isOld = this.#engine.clock.monotonicMs() - followed.writtenMs >= WRITE_SEEN_MS
    return isOld || status !== followed.writtenStatus
  }

  #recordSeen({ followed, status }: Answer): void {
    const { store, clock } = this.#engine
    store.contents.setIngestionSeen(followed.contentId, status, clock.nowMs())
    if (followed.hasProblem === 1) store.contents.clearPollProblem(followed.contentId)
    followed.hasProblem = 0
    followed.writtenMs = clock.monotonicMs()
    followed.writtenStatus = status
  }

  #postpone(followed: Followed): void {
    const { clock, pollIntervals, random } = this.#engine
    followed.polls += 1
    const isOverdue = this.#isOverdue(followed)
    const { polls } = followed
    followed.dueMs = clock.monotonicMs() + pollIntervalMs({ polls, isOverdue }, pollIntervals, random())
    if (!isOverdue || followed.hasLeftRoom) return
    followed.hasLeftRoom = true
    this.#announceCapacity()
  }

  #announceCapacity(): void {
    for (const listener of this.#listeners) listener()
  }

  #recordEnd({ followed, outcome, status, note, problem }: Answer): void {
    const { store, clock, progress, metrics } = this.#engine
    const nowMs = clock.nowMs()
    const searchableAt = outcome === 'searchable' ? nowMs : null
    store.contents.setIngestion(followed.contentId, { status, outcome, searchableAt, note, seenAt: nowMs })
    if (outcome === 'searchable') {
      progress.searchable += 1
      metrics.searchableAfter(Math.max(0, nowMs - followed.uploadedAt))
    }
    if (problem === null) {
      store.contents.setProblem(followed.contentId, null)
      return
    }
    const code = outcome === 'unknown' ? 'ingestion-unknown' : `ingestion-${outcome}`
    const retryAt = quarantineUntil(this.#engine, followed.contentId, code)
    store.contents.setProblem(followed.contentId, { code, message: problem, retryAt })
    this.#nextLook.schedule(retryAt)
  }
}
