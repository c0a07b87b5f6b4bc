import { createRequire } from 'node:module'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../foundation/text/times.ts'

/** Wall-clock milliseconds; null when there is none within forty years. */
export interface CronTimes {
  /** The first due time later than `instantMs`. */
  nextAfter(instantMs: number): number | null
  /** The last due time up to and with `instantMs`. */
  lastUntil(instantMs: number): number | null
}

type Direction = 1 | -1

/** A leap day falls on a given weekday at least once in forty years. */
const MAX_DAYS = 366 * 40

/**
 * Five fields in a time zone (undefined: the system's). Each time is due once: a skipped one at the end of the gap, a repeated one at its
 * first.
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

/** On a clock without time zone: node-cron matches the days. */
function readExpression(expression: string): (wallMs: number, direction: Direction) => Iterable<number> {
  const { createTask, parse } = loadNodeCron()
  const { hour, minute, month } = parse(expression)
  const days = createTask(`* * ${expression.trim().split(/\s+/).slice(2).join(' ')}`, () => {}, { timezone: 'UTC' })
  days.destroy()
  const isDueOn = (dayMs: number) => month.includes(new Date(dayMs).getUTCMonth() + 1) && days.match(new Date(dayMs))
  const times = [...new Set(hour.flatMap((h) => minute.map((m) => (h * 60 + m) * MINUTE_MS)))].sort((a, b) => a - b)
  return (wallMs, direction) => walkTimes(wallMs, direction, isDueOn, times)
}

/** Forward: later than `wallMs`; backward: up to it, latest first. */
function* walkTimes(
  wallMs: number,
  direction: Direction,
  isDueOn: (dayMs: number) => boolean,
  times: readonly number[],
): Iterable<number> {
  const ordered = direction === 1 ? times : times.toReversed()
  const firstDayMs = Math.floor(wallMs / DAY_MS) * DAY_MS
  for (let walked = 0; walked < MAX_DAYS; walked += 1) {
    const dayMs = firstDayMs + walked * direction * DAY_MS
    if (!isDueOn(dayMs)) continue
    for (const time of ordered) {
      const dueMs = dayMs + time
      if (direction === 1 ? dueMs > wallMs : dueMs <= wallMs) yield dueMs
    }
  }
}

/** Most configurations have no expression. */
function loadNodeCron(): typeof import('node-cron') {
  return createRequire(import.meta.url)('node-cron')
}

/** Wall times as milliseconds in UTC, which allows arithmetic; some are skipped and others repeated. */
interface WallTime {
  wallAt(instantMs: number): number
  firstInstantOf(wallMs: number): number
  /** Shown up to the instant. */
  latestWallAt(instantMs: number): number
}

/** Only moves across the date line set clocks back by more. */
const MAX_REPEAT_MS = 3 * HOUR_MS

/** `timeZone` is an IANA name; undefined is that of the system. */
function readWallTime(timeZone: string | undefined): WallTime {
  const offsetAt = readOffsets(timeZone)
  return {
    wallAt: (instantMs) => instantMs + offsetAt(instantMs),
    latestWallAt: (instantMs) => instantMs + Math.max(offsetAt(instantMs), offsetAt(instantMs - MAX_REPEAT_MS)),
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
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  return (instantMs) => {
    const parts = new Map(format.formatToParts(instantMs).map(({ type, value }) => [type, Number(value)]))
    const of = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0
    const wallMs = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'))
    return wallMs - Math.floor(instantMs / 1000) * 1000
  }
}
