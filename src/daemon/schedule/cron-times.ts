import { createRequire } from 'node:module'
import { DAY_MS, MINUTE_MS } from '../../foundation/text/times.ts'
import { readWallTime } from './wall-time.ts'

/** Due times of a cron expression in wall-clock milliseconds; null when there is none within forty years. */
export interface CronTimes {
  /** The first due time later than `instantMs`. */
  nextAfter(instantMs: number): number | null
  /** The last due time up to and with `instantMs`. */
  lastUntil(instantMs: number): number | null
}

type Direction = 1 | -1

/** Forty years: a leap day falls on a given weekday at least once in this time. */
const FARTHEST_DAYS = 366 * 40

/**
 * Reads an expression of five fields in a time zone (undefined: that of the system). Each time is due once: if a change of
 * the clock skips it, when the gap ends; if a change repeats it, the first time.
 */
export function readCronTimes(expression: string, timeZone: string | undefined): CronTimes {
  const wall = readWallTime(timeZone)
  const walkFrom = readExpression(expression)
  return {
    nextAfter: (instantMs) => {
      for (const wallMs of walkFrom(wall.wallAt(instantMs), 1)) {
        const dueAt = wall.firstInstantOf(wallMs)
        if (dueAt > instantMs) return dueAt
      }
      return null
    },
    lastUntil: (instantMs) => {
      for (const wallMs of walkFrom(wall.latestWallAt(instantMs), -1)) {
        const dueAt = wall.firstInstantOf(wallMs)
        if (dueAt <= instantMs) return dueAt
      }
      return null
    },
  }
}

/** Due times on a clock without time zone: node-cron matches the days, and the fields give hours and minutes. */
function readExpression(expression: string): (wallMs: number, direction: Direction) => Iterable<number> {
  const { createTask, parse } = loadNodeCron()
  const { hour, minute, month } = parse(expression)
  const days = createTask(`* * ${expression.trim().split(/\s+/).slice(2).join(' ')}`, () => {}, { timezone: 'UTC' })
  days.destroy()
  const isDueOn = (dayMs: number) => month.includes(new Date(dayMs).getUTCMonth() + 1) && days.match(new Date(dayMs))
  const times = [...new Set(hour.flatMap((h) => minute.map((m) => (h * 60 + m) * MINUTE_MS)))].sort((a, b) => a - b)
  return (wallMs, direction) => walkTimes(wallMs, direction, isDueOn, times)
}

/** Forward: the times later than `wallMs`. Backward: those up to it, the latest first. */
function* walkTimes(
  wallMs: number,
  direction: Direction,
  isDueOn: (dayMs: number) => boolean,
  times: readonly number[],
): Iterable<number> {
  const ordered = direction === 1 ? times : times.toReversed()
  const firstDayMs = Math.floor(wallMs / DAY_MS) * DAY_MS
  for (let walked = 0; walked < FARTHEST_DAYS; walked += 1) {
    const dayMs = firstDayMs + walked * direction * DAY_MS
    if (!isDueOn(dayMs)) continue
    for (const time of ordered) {
      const dueMs = dayMs + time
      if (direction === 1 ? dueMs > wallMs : dueMs <= wallMs) yield dueMs
    }
  }
}

/** Loaded at the first expression, since most commands and most configurations have none. */
function loadNodeCron(): typeof import('node-cron') {
  return createRequire(import.meta.url)('node-cron')
}
