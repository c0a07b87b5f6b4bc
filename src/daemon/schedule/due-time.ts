import { HOUR_MS } from '../../foundation/text/times.ts'
import type { CronTimes } from './cron-times.ts'

/** If the clock is further behind the handled time, it was wrong when that was recorded, and the record is ignored. */
const LONGEST_STEP_BACK_MS = HOUR_MS

/** Computes when one schedule is due, from its last handled time and a wall clock that may be set at any time. */
export class DueTime {
  readonly #times: CronTimes
  /** Undefined when the schedule was never handled. */
  #handledAt: number | undefined
  /** The time when the clock was found far behind. */
  #behindSince: number | undefined
  #known: { readonly sinceMs: number; readonly dueAt: number | null } | undefined

  constructor(times: CronTimes, handledAt: number | undefined) {
    this.#times = times
    this.#handledAt = handledAt
  }

  /** The first due time that was not handled, past or future; null when there is none. */
  at(nowMs: number): number | null {
    if (this.#handledAt === undefined) return nowMs
    const sinceMs = this.#sinceMs(this.#handledAt, nowMs)
    if (this.#known?.sinceMs !== sinceMs) this.#known = { sinceMs, dueAt: this.#times.nextAfter(sinceMs) }
    return this.#known.dueAt
  }

  /** Marks every due time up to `nowMs` as handled. A small step back of the clock does not undo that. */
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
