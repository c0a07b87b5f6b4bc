import type { CronTimes } from './cron-times.ts'

/** A clock that is behind by more was wrong before: what it made us see to doesn't count any longer. */
const LONGEST_STEP_BACK_MS = 3_600_000

/** When one schedule is due, given when it was last seen to, and a wall clock that may be set to anything. */
export class DueTime {
  readonly #times: CronTimes
  /** Undefined when it never was. */
  #handledAt: number | undefined
  /** The time when the clock was found far behind. */
  #behindSince: number | undefined
  #known: { readonly sinceMs: number; readonly dueAt: number | null } | undefined

  constructor(times: CronTimes, handledAt: number | undefined) {
    this.#times = times
    this.#handledAt = handledAt
  }

  /** The first time that hasn't been seen to, past or to come; null when there is none. */
  at(nowMs: number): number | null {
    if (this.#handledAt === undefined) return nowMs
    const sinceMs = this.#sinceMs(this.#handledAt, nowMs)
    if (this.#known?.sinceMs !== sinceMs) this.#known = { sinceMs, dueAt: this.#times.nextAfter(sinceMs) }
    return this.#known.dueAt
  }

  /** Every due time up to `nowMs` has been seen to. After a small step back it stays at what it was. */
  handle(nowMs: number): void {
    this.#handledAt = nowMs
    this.#behindSince = undefined
  }

  #sinceMs(handledAt: number, nowMs: number): number {
    if (handledAt - nowMs <= LONGEST_STEP_BACK_MS) {
      this.#behindSince = undefined
      return handledAt
    }
    if (this.#behindSince === undefined || this.#behindSince - nowMs > LONGEST_STEP_BACK_MS) this.#behindSince = nowMs
    return this.#behindSince
  }
}
