import fc from 'fast-check'
import { createTask } from 'node-cron'
import { describe, expect, test } from 'vitest'
import { readCronTimes } from '../../../src/daemon/schedule/cron-times.ts'

const MINUTE_MS = 60_000

/** The next `count` due times as ISO texts. */
function nextTimes(expression: string, timeZone: string, { from, count }: { from: string; count: number }): string[] {
  const times = readCronTimes(expression, timeZone)
  let atMs = Date.parse(from)
  return Array.from({ length: count }, () => {
    atMs = times(atMs) ?? Number.NaN
    return new Date(atMs).toISOString()
  })
}

const field = (max: number, min = 0) =>
  fc.oneof(
    fc.constant('*'),
    fc.integer({ min, max }).map(String),
    fc.integer({ min: 2, max: 9 }).map((step) => `*/${step}`),
    fc.tuple(fc.integer({ min, max }), fc.integer({ min, max })).map(([from, to]) => `${from}-${to}`),
  )
const expressions = fc
  .tuple(field(59), field(23), field(28, 1), field(12, 1), field(6))
  .map((fields) => fields.join(' '))
const instants = fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2035, 0) })

describe('due times', () => {
  test('due times are those of node-cron where no clock changes', () => {
    fc.assert(
      fc.property(expressions, (expression) => {
        const task = createTask(expression, () => {}, { timezone: 'UTC' })
        const expected = task.getNextRuns(3).map((date) => date.getTime())
        const times = readCronTimes(expression, 'UTC')
        const found = [(expected[0] ?? 0) - 1, ...expected].slice(0, 3).map((atMs) => times(atMs))
        expect(found).toEqual(expected)
      }),
      { numRuns: 60 },
    )
  })

  test('no due time lies between an instant and the next one', () => {
    const zones = fc.constantFrom('UTC', 'Europe/Berlin', 'Australia/Lord_Howe', 'America/St_Johns')
    fc.assert(
      fc.property(expressions, zones, instants, (expression, zone, atMs) => {
        const nextAfter = readCronTimes(expression, zone)
        const next = nextAfter(atMs)
        fc.pre(next !== null)
        expect(next).toBeGreaterThan(atMs)
        for (const share of [0.1, 0.5, 0.9]) expect(nextAfter(atMs + (next - atMs) * share)).toBe(next)
      }),
      { numRuns: 60 },
    )
  })

  test('a due time skipped by summer time comes right after it', () => {
    expect(nextTimes('30 2 * * *', 'Europe/Berlin', { from: '2026-03-28T00:00:00Z', count: 3 })).toEqual([
      '2026-03-28T01:30:00.000Z',
      '2026-03-29T01:00:00.000Z',
      '2026-03-30T00:30:00.000Z',
    ])
  })

  test('a due time repeated by winter time counts once', () => {
    expect(nextTimes('30 2 * * *', 'Europe/Berlin', { from: '2026-10-24T12:00:00Z', count: 2 })).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-26T01:30:00.000Z',
    ])
    const times = readCronTimes('30 2 * * *', 'Europe/Berlin')
    expect(times(Date.parse('2026-10-25T01:10:00Z'))).toBe(Date.parse('2026-10-26T01:30:00Z'))
  })

  test('due times continue after a day that never was', () => {
    expect(nextTimes('0 12 * * *', 'Pacific/Apia', { from: '2011-12-29T00:00:00Z', count: 3 })).toEqual([
      '2011-12-29T22:00:00.000Z',
      '2011-12-30T10:00:00.000Z',
      '2011-12-30T22:00:00.000Z',
    ])
  })

  test('a leap day is found, and an impossible day is null', () => {
    expect(nextTimes('0 0 29 2 *', 'UTC', { from: '2026-11-21T00:00:00Z', count: 1 })).toEqual([
      '2028-02-29T00:00:00.000Z',
    ])
    const never = readCronTimes('0 0 31 * 1#1', 'UTC')
    expect(never(0)).toBeNull()
  })

  test('a due time matches both the day and the weekday', () => {
    expect(nextTimes('0 0 13 * 5', 'UTC', { from: '2026-04-01T00:00:00Z', count: 1 })).toEqual([
      '2026-11-13T00:00:00.000Z',
    ])
  })

  test('the next due time is strictly later, to the minute', () => {
    const times = readCronTimes('* * * * *', undefined)
    const atMs = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS
    expect(times(atMs)).toBe(atMs + MINUTE_MS)
    expect(times(atMs - 1)).toBe(atMs)
  })
})
