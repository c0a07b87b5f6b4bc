import type { Moment } from '../foundation/clock.ts'

interface Period {
  readonly firstId: number
  /** Wall time minus monotonic time at its first upload. */
  readonly aheadMs: number
  /** The smallest difference of the period, so that no upload seems older than it is. */
  readonly leastAheadMs: number
}

/** Ids are inclusive; they began between two wall times (exclusive). */
export interface UploadRange {
  readonly firstId: number
  readonly lastId: number
  readonly afterMs: number
  readonly beforeMs: number
  /** The uploads are younger by this than their wall time says, because the clock was set forward. */
  readonly delayMs: number
}

/** A smaller change is a correction of the clock, or the time between two readings. */
const MIN_JUMP_MS = 1_000
const MAX_PERIODS = 64
const END = Number.MAX_SAFE_INTEGER

/**
 * Decides which uploads belong to the last day, however the wall clock was set: it keeps how far the wall clock was ahead of the
 * monotonic one. Of earlier processes only wall times are known. Example: uploads 1 to 9 began at 12:00, then the clock was set forward
 * by two days; they still count, as a range of ids with a `delayMs` of two days.
 */
export class ClockHistory {
  /** Ordered by id. */
  #periods: Period[] = []

  /** Call it with each upload. An id may come again after a rollback. */
  note(uploadId: number, { wallMs, monotonicMs }: Moment): void {
    const aheadMs = wallMs - monotonicMs
    const last = this.#periods.at(-1)
    if (last && Math.abs(aheadMs - last.aheadMs) < MIN_JUMP_MS) {
      if (aheadMs < last.leastAheadMs) this.#periods.splice(-1, 1, { ...last, leastAheadMs: aheadMs })
      return
    }
    this.#periods.push({ firstId: uploadId, aheadMs, leastAheadMs: aheadMs })
    if (this.#periods.length > MAX_PERIODS) this.#joinOldest()
  }

  /** Began less than `spanMs` before `now` by either clock, or less than that after it by the wall clock. */
  listWithin(spanMs: number, now: Moment): UploadRange[] {
    const { wallMs } = now
    const around = { afterMs: wallMs - spanMs, beforeMs: wallMs + spanMs, delayMs: 0 }
    const firstOwnId = this.#periods[0]?.firstId ?? END
    const ranges: UploadRange[] = [{ firstId: 0, lastId: firstOwnId - 1, ...around }]
    for (const [index, { firstId, leastAheadMs }] of this.#periods.entries()) {
      const ids = { firstId, lastId: (this.#periods[index + 1]?.firstId ?? END) - 1 }
      const delayMs = wallMs - now.monotonicMs - leastAheadMs
      const afterMs = wallMs - spanMs - delayMs
      if (delayMs >= 0) ranges.push({ ...ids, afterMs, beforeMs: END, delayMs })
      else {
        // Set back: the span also has later uploads by the wall clock that are in it by the monotonic clock.
        ranges.push({ ...ids, ...around })
        ranges.push({ ...ids, afterMs: Math.max(afterMs, around.beforeMs - 1), beforeMs: END, delayMs })
      }
    }
    return ranges
  }

  /** Their uploads then count for too long rather than too short a time. */
  #joinOldest(): void {
    const [first, second] = this.#periods
    if (!first || !second) return
    this.#periods.splice(0, 2, {
      ...second,
      firstId: first.firstId,
      leastAheadMs: Math.min(first.leastAheadMs, second.leastAheadMs),
    })
  }
}
