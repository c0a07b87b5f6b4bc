import { describe, expect, test } from 'vitest'
import { isScrubDue, promptScanDelayMs, regularScanIntervalMs } from '../../src/rules/scan-times.ts'

const intervals = { rescanMs: 600_000, pollIntervalMs: 60_000, settleMs: 2_000 }

describe('the interval before a regular scan', () => {
  test.each([
    ['that of rescans while events come', intervals, false, 600_000],
    ['that of polling where none come', intervals, true, 60_000],
    ['the shorter one of both', { ...intervals, rescanMs: 10_000 }, true, 10_000],
    ['none without rescans', { ...intervals, rescanMs: null }, false, null],
    ['that of polling even without rescans', { ...intervals, rescanMs: null }, true, 60_000],
  ])('the interval before a regular scan is %s', (_, intervals, isBlind, delayMs) => {
    expect(regularScanIntervalMs(intervals, isBlind, 0.5)).toBe(delayMs)
  })

  test('the interval before a regular scan varies by a tenth either way', () => {
    expect(regularScanIntervalMs(intervals, false, 0)).toBe(540_000)
    expect(regularScanIntervalMs(intervals, false, 0.999)).toBeCloseTo(659_880)
  })
})

describe('the delay before a prompt scan', () => {
  test.each([
    ['two seconds at least', { ...intervals, settleMs: 0 }, 0, 2_000],
    ['longer than a file must rest', { ...intervals, settleMs: 4_000 }, 0, 6_000],
    ['twenty times what scanning took', intervals, 1_000, 20_000],
  ])('the delay before a prompt scan is %s', (_, intervals, lastScanMs, delayMs) => {
    expect(promptScanDelayMs(intervals, lastScanMs)).toBe(delayMs)
  })
})

const DAY_MS = 86_400_000
const NOW = 20_000 * DAY_MS

test.each([
  ['a day ago', -DAY_MS, DAY_MS, true],
  ['almost a day ago', 1 - DAY_MS, DAY_MS, false],
  ['in the future, by a moment', 1_000, DAY_MS, false],
  ['in the future, by years', 3_650 * DAY_MS, DAY_MS, true],
  ['years ago, without an interval', -3_650 * DAY_MS, null, false],
])('a scrub waits no longer than its interval, from %s [P20]', (_, scrubbedMs, intervalMs, isDue) => {
  expect(isScrubDue(NOW + scrubbedMs, intervalMs, NOW)).toBe(isDue)
})
