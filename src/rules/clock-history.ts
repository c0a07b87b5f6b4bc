import type { Moment } from '../foundation/clock.ts'

interface Period {
  readonly firstId: number
  /** Wall time minus monotonic time at the first upload of the period. */
  readonly aheadMs: number
  /** The smallest such difference in the period: with it, no upload seems older than it is. */
  readonly minAheadMs: number
}

/** Uploads with ids from `firstId` to `lastId` that began after `afterMs` and before `beforeMs` (wall clock). */
export interface UploadRange {
  readonly firstId: number
  readonly lastId: number
  readonly afterMs: number
  readonly beforeMs: number
  /** How much younger the uploads are than their wall times say, because the clock was set forward since; negative if it was set back. */
  readonly delayMs: number
}

/** A smaller difference comes from a correction of the clock, or from the time between the readings of the two clocks. */
const MIN_JUMP_MS = 1_000
const MAX_PERIODS = 64
const END = Number.MAX_SAFE_INTEGER

/**
 * Finds the uploads of a time span, such as the last day, although the wall clock may be set meanwhile. For uploads of this process it
 * keeps how far the wall clock was ahead of the monotonic clock; uploads of earlier processes have wall times only. Example: uploads 1 to
 * 9 began at 12:00, then the clock was set forward by two days. They still count, as a range of ids with a `delayMs` of two days.
 */
export class ClockHistory {
  /** Ordered by id. */
  #periods: Period[] = []

  /** Call it for each upload. After a rollback an id may come again. */
  note(uploadId: number, { wallMs, monotonicMs }: Moment): void {
    const aheadMs = wallMs - monotonicMs
    const last = this.#periods.at(-1)
    if (last && Math.abs(aheadMs - last.aheadMs) < MIN_JUMP_MS) {
      if (aheadMs < last.minAheadMs) this.#periods.splice(-1, 1, { ...last, minAheadMs: aheadMs })
      return
    }
    this.#periods.push({ firstId: uploadId, aheadMs, minAheadMs: aheadMs })
    if (this.#periods.length > MAX_PERIODS) this.#joinOldest()
  }

  /** Returns uploads that began less than `spanMs` before `now` by either clock, or less than `spanMs` after it by the wall clock. */
  listWithin(spanMs: number, now: Moment): UploadRange[] {
    const { wallMs } = now
    const around = { afterMs: wallMs - spanMs, beforeMs: wallMs + spanMs, delayMs: 0 }
    const firstOwnId = this.#periods[0]?.firstId ?? END
    const ranges: UploadRange[] = [{ firstId: 0, lastId: firstOwnId - 1, ...around }]
    for (const [index, { firstId, minAheadMs }] of this.#periods.entries()) {
      const ids = { firstId, lastId: (this.#periods[index + 1]?.firstId ?? END) - 1 }
      const delayMs = wallMs - now.monotonicMs - minAheadMs
      const afterMs = wallMs - spanMs - delayMs
      if (delayMs >= 0) ranges.push({ ...ids, afterMs, beforeMs: END, delayMs })
      else {
        // The clock was set back: some uploads are too late for the span by the wall clock, but belong to it by the monotonic clock.
        ranges.push({ ...ids, ...around })
        ranges.push({ ...ids, afterMs: Math.max(afterMs, around.beforeMs - 1), beforeMs: END, delayMs })
      }
    }
    return ranges
  }

  /** Joins the two oldest periods. Their uploads may then count for too long, but never for too short a time. */
  #joinOldest(): void {
    const [first, second] = this.#periods
    if (!first || !second) return
    this.#periods.splice(0, 2, {
      ...second,
      firstId: first.firstId,
      minAheadMs: Math.min(first.minAheadMs, second.minAheadMs),
    })
  }
}
