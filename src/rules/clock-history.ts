import type { Moment } from '../foundation/clock.ts'

/** A stretch of uploads between two settings of the wall clock. */
interface Period {
  readonly firstId: number
  /** Wall time minus monotonic time at its first upload. */
  readonly aheadMs: number
  /** The least such difference of the period: with it no upload seems older than it is. */
  readonly leastAheadMs: number
}

/** Uploads with an id from `firstId` to `lastId` (inclusive) that began between two wall times (exclusive). */
export interface UploadRange {
  readonly firstId: number
  readonly lastId: number
  readonly afterMs: number
  readonly beforeMs: number
  /** How much later than its recorded wall time says an upload is older than the span: the wall clock was set forward so much. */
  readonly delayMs: number
}

/** A smaller change is the adjustment of a clock that runs fast or slow, or the time between the readings of two clocks. */
const LEAST_JUMP_MS = 1_000
const MOST_PERIODS = 64
const END = Number.MAX_SAFE_INTEGER

/**
 * Decides which uploads belong to the last day (or another span), however the wall clock was set meanwhile: it keeps how far the wall
 * clock was ahead of the monotonic one when this process recorded uploads. Of earlier processes only wall times are known.
 *
 * Example: uploads 1 to 9 began at 12:00, then somebody set the wall clock forward by two days. By wall time they are older than a
 * day; by the monotonic clock they are new, so they count for another day: a range of these ids with a `delayMs` of two days.
 */
export class ClockHistory {
  /** Ordered by id, from the first upload of this process on. */
  #periods: Period[] = []

  /** Call it with each upload when it is recorded. An id may come again after a transaction was rolled back. */
  note(uploadId: number, { wallMs, monotonicMs }: Moment): void {
    const aheadMs = wallMs - monotonicMs
    const last = this.#periods.at(-1)
    if (last && Math.abs(aheadMs - last.aheadMs) < LEAST_JUMP_MS) {
      if (aheadMs < last.leastAheadMs) this.#periods.splice(-1, 1, { ...last, leastAheadMs: aheadMs })
      return
    }
    this.#periods.push({ firstId: uploadId, aheadMs, leastAheadMs: aheadMs })
    if (this.#periods.length > MOST_PERIODS) this.#joinOldest()
  }

  /** The uploads that began less than `spanMs` before `now` by either clock, or less than that after it by the wall clock. */
  listWithin(spanMs: number, now: Moment): UploadRange[] {
    const { wallMs } = now
    const around = { afterMs: wallMs - spanMs, beforeMs: wallMs + spanMs, delayMs: 0 }
    const firstOwnId = this.#periods[0]?.firstId ?? END
    const ranges: UploadRange[] = [{ firstId: 0, lastId: firstOwnId - 1, ...around }]
    for (const [index, { firstId, leastAheadMs }] of this.#periods.entries()) {
      const ids = { firstId, lastId: (this.#periods[index + 1]?.firstId ?? END) - 1 }
      // How far the wall clock was set forward since; negative when it was set back.
      const delayMs = wallMs - now.monotonicMs - leastAheadMs
      const afterMs = wallMs - spanMs - delayMs
      if (delayMs >= 0) ranges.push({ ...ids, afterMs, beforeMs: END, delayMs })
      else {
        // Set back: in the span are those around now by the wall clock, and later ones that are in it by the monotonic clock.
        ranges.push({ ...ids, ...around })
        ranges.push({ ...ids, afterMs: Math.max(afterMs, around.beforeMs - 1), beforeMs: END, delayMs })
      }
    }
    return ranges
  }

  /** Joins the two oldest periods, so that their uploads count for too long rather than too short a time. */
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
