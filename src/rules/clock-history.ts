import type { Moment } from '../foundation/clock.ts'

/** Uploads from one id on, recorded while the wall clock was about so far ahead of the monotonic one. */
interface Period {
  readonly firstId: number
  readonly aheadMs: number
  /** The least distance of the period: with it no upload seems older than it is. */
  readonly leastAheadMs: number
}

/**
 * Uploads by id and by the wall time at which they began, both bounds of which are exclusive. Each of them leaves the span in question
 * at the end of that span, and `delayMs` later.
 */
export interface UploadRange {
  readonly firstId: number
  readonly lastId: number
  readonly afterMs: number
  readonly beforeMs: number
  readonly delayMs: number
}

/** A smaller difference is slewing, or the time between the readings of two clocks. */
const LEAST_JUMP_MS = 1_000
const MOST_PERIODS = 64
const END = Number.MAX_SAFE_INTEGER

/**
 * How far the wall clock was ahead of the monotonic one when this process recorded uploads: from it follows which uploads belong
 * to a span of time by either clock, however the wall clock was set meanwhile. Earlier processes left wall times alone.
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
      // So much the wall clock was set forward since; negative when it was set back.
      const delayMs = wallMs - now.monotonicMs - leastAheadMs
      const afterMs = wallMs - spanMs - delayMs
      if (delayMs >= 0) ranges.push({ ...ids, afterMs, beforeMs: END, delayMs })
      else {
        ranges.push({ ...ids, ...around })
        ranges.push({ ...ids, afterMs: Math.max(afterMs, around.beforeMs - 1), beforeMs: END, delayMs })
      }
    }
    return ranges
  }

  /** Counts uploads of the joined periods longer rather than shorter. */
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
