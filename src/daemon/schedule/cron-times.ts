import { createRequire } from 'node:module'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../foundation/text/times.ts'

/** Returns the first due time later than an instant (wall-clock milliseconds); null when there is none within forty years. */
export type NextDue = (instantMs: number) => number | null

/** A leap day falls on a given weekday at least once in forty years. */
const MAX_DAYS = 366 * 40

/**
 * Reads an expression of five fields in a time zone (undefined: the system's). Each time is due once, also when clocks change: a time that
 * is skipped is due at the end of the gap, and one that is repeated only the first time.
 */
export function readCronTimes(expression: string, timeZone: string | undefined): NextDue {
  const { createTask, parse } = loadNodeCron()
  const { hour, minute, month } = parse(expression)
  const times = [...new Set(hour.flatMap((h) => minute.map((m) => h * HOUR_MS + m * MINUTE_MS)))].sort((a, b) => a - b)
  // node-cron matches the days, in UTC; `times` has the hours and minutes.
  const days = createTask(`* * ${expression.trim().split(/\s+/).slice(2).join(' ')}`, () => {}, { timezone: 'UTC' })
  days.destroy()
  const isDueOn = (dayMs: number) => month.includes(new Date(dayMs).getUTCMonth() + 1) && days.match(new Date(dayMs))
  const offsetAt = readOffsets(timeZone)
  return (instantMs) => {
    const wallMs = instantMs + offsetAt(instantMs)
    const firstDayMs = Math.floor(wallMs / DAY_MS) * DAY_MS
    for (let dayMs = firstDayMs; dayMs < firstDayMs + MAX_DAYS * DAY_MS; dayMs += DAY_MS) {
      if (!isDueOn(dayMs)) continue
      for (const time of times) {
        const dueAt = dayMs + time > wallMs ? firstInstantOf(dayMs + time, offsetAt) : 0
        if (dueAt > instantMs) return dueAt
      }
    }
    return null
  }
}

/** Loaded when needed, since most configurations have no expression. */
export function loadNodeCron(): typeof import('node-cron') {
  return createRequire(import.meta.url)('node-cron')
}

type OffsetAt = (instantMs: number) => number

/** Returns the first instant of a wall time. `wallMs` is that time as if it were UTC. Some wall times are skipped, others occur twice. */
function firstInstantOf(wallMs: number, offsetAt: OffsetAt): number {
  const before = wallMs - offsetAt(wallMs - DAY_MS)
  const after = wallMs - offsetAt(wallMs + DAY_MS)
  if (before === after || before + offsetAt(before) === wallMs) return before
  if (after + offsetAt(after) === wallMs) return after
  // The minute at which the new offset begins.
  let endOfGap = Math.ceil(after / MINUTE_MS) * MINUTE_MS
  while (offsetAt(endOfGap) !== offsetAt(before)) endOfGap += MINUTE_MS
  return endOfGap
}

/** `timeZone` is an IANA name; undefined is that of the system. */
function readOffsets(timeZone: string | undefined): OffsetAt {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
  return (instantMs) => {
    const [, sign, hours = 0, minutes = 0] = /GMT([+-])(\d+):(\d+)/.exec(format.format(instantMs)) ?? []
    return (sign === '-' ? -1 : 1) * (Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS)
  }
}
