import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../foundation/text/times.ts'

/**
 * Times on the clock of a time zone. A wall time is given as the milliseconds that it would be in UTC, which allows
 * arithmetic; a change of the clock skips some wall times and repeats others.
 */
export interface WallTime {
  wallAt(instantMs: number): number
  /** The instant when the clock first shows this time, or the end of the gap when the clock skips it. */
  firstInstantOf(wallMs: number): number
  /** The latest wall time that was shown up to an instant. */
  latestWallAt(instantMs: number): number
}

/** No time zone sets its clock back by more, except for a move across the date line. */
const LONGEST_REPEAT_MS = 3 * HOUR_MS

/** `timeZone` is an IANA name; undefined is that of the system. */
export function readWallTime(timeZone: string | undefined): WallTime {
  const offsetAt = readOffsets(timeZone)
  return {
    wallAt: (instantMs) => instantMs + offsetAt(instantMs),
    latestWallAt: (instantMs) => instantMs + Math.max(offsetAt(instantMs), offsetAt(instantMs - LONGEST_REPEAT_MS)),
    firstInstantOf: (wallMs) => {
      const before = wallMs - offsetAt(wallMs - DAY_MS)
      const after = wallMs - offsetAt(wallMs + DAY_MS)
      if (before === after || before + offsetAt(before) === wallMs) return before
      return after + offsetAt(after) === wallMs ? after : endOfGap(after, before, offsetAt)
    },
  }
}

/** The minute in (lowMs, highMs] at which the new offset begins. */
function endOfGap(lowMs: number, highMs: number, offsetAt: (instantMs: number) => number): number {
  const newOffsetMs = offsetAt(highMs)
  let [low, high] = [Math.floor(lowMs / MINUTE_MS), Math.ceil(highMs / MINUTE_MS)]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (offsetAt(middle * MINUTE_MS) === newOffsetMs) high = middle
    else low = middle
  }
  return high * MINUTE_MS
}

function readOffsets(timeZone: string | undefined): (instantMs: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    ...(timeZone === undefined ? {} : { timeZone }),
    ...{ hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' },
    ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
  })
  return (instantMs) => {
    const parts = new Map(format.formatToParts(instantMs).map(({ type, value }) => [type, Number(value)]))
    const of = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0
    const wallMs = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'))
    return wallMs - Math.floor(instantMs / 1000) * 1000
  }
}
