import type { Clock } from '../../foundation/clock.ts'
import { pollIntervalMs } from '../../rules/retry-delay.ts'
import type { PendingResource } from '../../store/tables/ingestion.ts'
import type { MirrorRow } from '../../store/tables/mirrors.ts'
import type { Engine } from '../engine.ts'

/** A resource that is polled until its ingestion ends. */
export interface FollowedResource extends Omit<PendingResource, 'hasProblem'> {
  hasProblem: number
  readonly host: string | null
  readonly mirror: MirrorRow
  readonly sinceMs: number
  /** When its state was last written to the store (monotonic). */
  writtenMs: number
  writtenStatus: string | null
  polls: number
  failures: number
  dueMs: number
  /** True: the resource is overdue, and `postpone` has reported this. */
  isKnownOverdue: boolean
}

interface FollowedMirror {
  readonly row: MirrorRow
  lastSeq: number
}

/** The most resources polled in one round, and rows read from the store at once. */
const ROUND = 256

/** Decides which resources of the followed mirrors are polled, and when: at growing intervals, longest due first. */
export class PollSchedule {
  readonly #engine: Engine
  readonly #mirrors = new Map<number, FollowedMirror>()
  readonly #followed = new Map<number, FollowedResource>()
  /** True if the store may have pending resources that are not followed yet. */
  #hasNew = true
  readonly #nextRecheck: NextRecheck
  /** The content whose path the progress shows. */
  #shownId: number | undefined

  constructor(engine: Engine) {
    this.#engine = engine
    this.#nextRecheck = new NextRecheck(engine.clock)
  }

  add(row: MirrorRow): boolean {
    if (this.#mirrors.has(row.id)) return false
    this.#mirrors.set(row.id, { row, lastSeq: 0 })
    this.#hasNew = true
    return true
  }

  remove(mirrorId: number): void {
    this.#mirrors.delete(mirrorId)
    for (const [id, { mirror }] of this.#followed) if (mirror.id === mirrorId) this.#followed.delete(id)
  }

  /** Returns false once the resource is released or its mirror removed: another run may have polled it since. */
  isFollowed(followed: FollowedResource): boolean {
    return this.#followed.get(followed.contentId) === followed
  }

  /** Lets `followRepaired` check failed resources at its next call, not at the planned time. */
  recheck(): void {
    this.#nextRecheck.demand()
  }

  /** Plans the next check of a failed resource; `retryAt` is a time of the wall clock. */
  planRecheck(retryAt: number): void {
    this.#nextRecheck.schedule(retryAt)
  }

  get isEmpty(): boolean {
    return this.#followed.size === 0
  }

  countNotOverdue(): number {
    let overdue = 0
    // The map is in the order of insertion: the longest followed come first.
    for (const followed of this.#followed.values()) {
      if (!this.#isOverdue(followed)) break
      overdue += 1
    }
    return this.#followed.size - overdue
  }

  /** Follows failed resources again once their quarantine is over, because the service may have repaired them. */
  followRepaired(): void {
    const { store, clock } = this.#engine
    if (!this.#nextRecheck.isDue) return
    this.#nextRecheck.postpone()
    for (const { row } of this.#mirrors.values()) {
      this.#nextRecheck.schedule(store.contents.nextRecheckAt(row.id, clock.nowMs()))
      for (const resource of store.contents.listDueForRecheck(row.id, clock.nowMs())) {
        // With `host: null`, this host polls the resource: the ledger does not have the details of a failure.
        if (!this.#followed.has(resource.contentId)) this.#follow(row, { ...resource, host: null }, 0)
      }
    }
  }

  noteNew(): void {
    this.#hasNew = true
  }

  followNew(): void {
    if (!this.#hasNew) return
    this.#hasNew = false
    for (const mirror of this.#mirrors.values()) this.#followNewOf(mirror)
    this.#showCount()
  }

  /** Returns the resources to poll in one round, longest due first. */
  listDue(nowMs: number): FollowedResource[] {
    const due: FollowedResource[] = []
    for (const followed of this.#followed.values()) if (followed.dueMs <= nowMs) due.push(followed)
    return due.sort((a, b) => a.dueMs - b.dueMs).slice(0, ROUND)
  }

  nextDueMs(): number {
    let nextMs = this.#nextRecheck.atMs
    for (const { dueMs } of this.#followed.values()) nextMs = Math.min(nextMs, dueMs)
    return nextMs
  }

  /** Shows in the progress which file a long wait is for: the path of the resource that is followed for the longest time. */
  showLongest(): void {
    const { store, progress } = this.#engine
    const [longest] = this.#followed.keys()
    if (longest === this.#shownId) return
    this.#shownId = longest
    progress.inIngestionLongest = longest === undefined ? '' : (store.uploads.listByContent(longest).at(-1)?.path ?? '')
  }

  /** Plans the next poll of a resource that is still pending. Returns true when it has just become overdue. */
  postpone(followed: FollowedResource): boolean {
    const { clock, pollIntervals, random } = this.#engine
    followed.polls += 1
    const isOverdue = this.#isOverdue(followed)
    const { polls } = followed
    followed.dueMs = clock.monotonicMs() + pollIntervalMs({ polls, isOverdue }, pollIntervals, random())
    const hasBecomeOverdue = isOverdue && !followed.isKnownOverdue
    followed.isKnownOverdue = isOverdue
    return hasBecomeOverdue
  }

  release({ contentId }: FollowedResource): void {
    this.#followed.delete(contentId)
    this.#showCount()
  }

  #followNewOf(mirror: FollowedMirror): void {
    const { store, clock, random, pollIntervals } = this.#engine
    for (;;) {
      const fresh = store.contents.listPending(mirror.row, mirror.lastSeq, ROUND)
      for (const resource of fresh) {
        const isOld = resource.uploadedAt < clock.nowMs() - pollIntervals.maxPollMs
        const delayMs = isOld ? 0 : pollIntervalMs({ polls: 0, isOverdue: false }, pollIntervals, random())
        this.#follow(mirror.row, resource, delayMs)
        mirror.lastSeq = resource.storedSeq
      }
      if (fresh.length < ROUND) return
    }
  }

  #follow(mirror: MirrorRow, resource: PendingResource, delayMs: number): void {
    const sinceMs = this.#engine.clock.monotonicMs()
    const unwritten = { writtenMs: Number.NEGATIVE_INFINITY, writtenStatus: null }
    const begun = { mirror, sinceMs, polls: 0, failures: 0, dueMs: sinceMs + delayMs, isKnownOverdue: false }
    this.#followed.set(resource.contentId, { ...resource, ...unwritten, ...begun })
  }

  /** An overdue resource no longer takes up capacity, and is polled less often. */
  #isOverdue({ sinceMs }: FollowedResource): boolean {
    const { clock, pollIntervals } = this.#engine
    return clock.monotonicMs() - sinceMs > pollIntervals.deadlineMs
  }

  #showCount(): void {
    this.#engine.progress.inIngestion = this.#followed.size
  }
}

/** Bounds of the time until the next recheck, so that one comes however the wall clock is set. */
const MIN_DELAY_MS = 60_000
const MAX_DELAY_MS = 600_000

/** When the next resource whose ingestion failed is due for a recheck. */
export class NextRecheck {
  atMs = 0
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get isDue(): boolean {
    return this.#clock.monotonicMs() >= this.atMs
  }

  demand(): void {
    this.atMs = 0
  }

  postpone(): void {
    this.atMs = this.#clock.monotonicMs() + MAX_DELAY_MS
  }

  /** Plans a recheck at `retryAt` (wall clock), unless an earlier one is planned; null: plans nothing. */
  schedule(retryAt: number | null): void {
    if (retryAt === null) return
    const delayMs = Math.max(MIN_DELAY_MS, retryAt - this.#clock.nowMs())
    this.atMs = Math.min(this.atMs, this.#clock.monotonicMs() + delayMs)
  }
}
