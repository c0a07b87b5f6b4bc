import { AutoResetEvent } from '../../foundation/concurrency/auto-reset-event.ts'
import { forEachConcurrently } from '../../foundation/concurrency/for-each-concurrently.ts'
import { reactToFailure } from '../../rules/react-to-failure.ts'
import type { MirrorRow } from '../../store/tables/mirrors.ts'
import type { Connection, Engine } from '../engine.ts'
import { isServiceWell } from '../item-failure.ts'
import type { Follower } from './ingestion-capacity.ts'
import { type FollowedPoll, type PollFailure, pollResource, recordPollFailure, recordPolls } from './poll-resource.ts'
import { type FollowedResource, PollSchedule } from './poll-schedule.ts'

type FailedPoll = PollFailure & { readonly followed: FollowedResource }

/** After this number of failed polls in a row, a resource has a problem, and is polled again after a quarantine. */
const MOST_FAILURES = 5

/** Resources that become due within this time are polled in one round. */
const GATHERING_MS = 20

/** After a round in which nothing ended, the follower waits, so that thousands of slow resources cost no more than this. */
const FRUITLESS_POLLS_PER_SECOND = 50

export function hasToFollow({ store, clock }: Engine, row: MirrorRow): boolean {
  return store.contents.countPending(row) > 0 || store.contents.listDueForRecheck(row.id, clock.nowMs()).length > 0
}

/**
 * Polls the resources of mirrors until each has a final state (interface 3.1), in the order of its schedule. What is still
 * pending at the end keeps its id and is polled by a later run; it is never uploaded again (P5).
 */
export class IngestionFollower implements Follower {
  readonly #engine: Engine
  readonly #connection: Connection
  readonly #schedule: PollSchedule
  readonly #wakeUp = new AutoResetEvent()
  hasFailed = false
  #mayEnd = false
  #stopAtMs = Number.POSITIVE_INFINITY

  constructor(engine: Engine, connection: Connection) {
    this.#engine = engine
    this.#connection = connection
    this.#schedule = new PollSchedule(engine)
  }

  /** Follows the mirror's resources as well. */
  add(row: MirrorRow): void {
    if (this.#schedule.add(row)) this.recheck()
  }

  /** Stops following the mirror's resources, because another run follows them. */
  remove(mirrorId: number): void {
    this.#schedule.remove(mirrorId)
  }

  wake(): void {
    this.#wakeUp.set()
  }

  /** Checks now for resources that ended badly and are due, instead of at the planned time. */
  recheck(): void {
    this.#schedule.recheck()
    this.#wakeUp.set()
  }

  /** No more resources will come: lets `run` end when all are final, or after `waitMs`. */
  finish(waitMs: number): void {
    this.#mayEnd = true
    this.#stopAtMs = this.#engine.clock.monotonicMs() + waitMs
    this.#wakeUp.set()
  }

  /** Polls until `finish` lets it end or the signal is aborted; a failure also calls the listeners for capacity. */
  async run(): Promise<void> {
    using _joined = this.#engine.ingestion.join(() => this.#countOwn())
    try {
      await this.#follow()
    } catch (error) {
      this.hasFailed = true
      this.#engine.ingestion.announce()
      throw error
    }
  }

  /** Each round takes what is due or new from the store, and polls what is due or waits. */
  async #follow(): Promise<void> {
    const { clock, signal } = this.#engine
    while (!signal.aborted && clock.monotonicMs() < this.#stopAtMs) {
      this.#schedule.takeRepaired()
      this.#schedule.takeNew()
      this.#schedule.showLongest()
      if (this.#schedule.isEmpty && this.#mayEnd) return
      const due = this.#schedule.listDue(clock.monotonicMs())
      if (due.length === 0) await this.#waitUntil(this.#schedule.nextDueMs() + GATHERING_MS)
      else if ((await this.#poll(due)) === 0)
        await this.#waitUntil(clock.monotonicMs() + (due.length * 1_000) / FRUITLESS_POLLS_PER_SECOND)
    }
  }

  async #waitUntil(nextMs: number): Promise<void> {
    const { clock, signal } = this.#engine
    const delayMs = Math.max(1, Math.min(nextMs, this.#stopAtMs) - clock.monotonicMs())
    await this.#wakeUp.waitAtMost(clock, delayMs, signal)
  }

  /** Polls each resource once; returns the number of those whose ingestion ended. */
  async #poll(due: readonly FollowedResource[]): Promise<number> {
    const answers: FollowedPoll[] = []
    const failed: FailedPoll[] = []
    try {
      await forEachConcurrently(due, this.#engine.limits.checkers, async (followed) => {
        if (this.#engine.signal.aborted) return
        const answer = await this.#ask(followed)
        if ('error' in answer) failed.push(answer)
        else answers.push(answer)
      })
    } finally {
      this.#take(answers)
    }
    for (const poll of failed) await this.#takeFailure(poll, answers.length > 0)
    return answers.filter(({ outcome }) => outcome !== 'pending').length
  }

  async #ask(followed: FollowedResource): Promise<FollowedPoll | FailedPoll> {
    const { library } = followed.mirror
    const poll = await pollResource(this.#connection, library.remoteId, followed.resourceId, this.#engine.signal)
    return { followed, ...poll }
  }

  /** Postpones or quarantines a resource that cannot be polled; throws if the service as a whole fails. */
  async #takeFailure({ followed, error }: FailedPoll, othersAnswered: boolean): Promise<void> {
    const { signal } = this.#engine
    const needed = { libraryId: followed.mirror.library.remoteId, right: 'read' } as const
    const isOfItem = othersAnswered || reactToFailure(error).scope === 'item'
    if (!isOfItem && !(await isServiceWell(this.#connection, needed, signal))) throw error
    followed.failures += 1
    if (followed.failures < MOST_FAILURES) {
      this.#postpone(followed)
      return
    }
    this.#schedule.release(followed)
    this.#schedule.planRecheck(recordPollFailure(this.#engine, followed, error))
    this.#engine.ingestion.announce()
  }

  #take(answers: readonly FollowedPoll[]): void {
    for (const retryAt of recordPolls(this.#engine, answers)) this.#schedule.planRecheck(retryAt)
    let hasEnded = false
    for (const { followed, outcome } of answers) {
      if (outcome !== 'pending') {
        this.#schedule.release(followed)
        hasEnded = true
      } else {
        followed.failures = 0
        this.#postpone(followed)
      }
    }
    if (hasEnded) this.#engine.ingestion.announce()
  }

  #postpone(followed: FollowedResource): void {
    if (this.#schedule.postpone(followed)) this.#engine.ingestion.announce()
  }

  #countOwn(): number {
    this.#schedule.takeNew()
    return this.#schedule.countInTime()
  }
}
