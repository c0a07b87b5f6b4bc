import { describe, expect, test } from 'vitest'
import { promptScanDelayMs, regularScanIntervalMs } from '../../../src/rules/continuous/next-scan.ts'

const pace = { rescanMs: 600_000, pollIntervalMs: 60_000, settleMs: 2_000 }

describe('the pause before a regular scan', () => {
  test.each([
    ['that of rescans while events come', pace, false, 600_000],
    ['that of polling where none come', pace, true, 60_000],
    ['the shorter one of both', { ...pace, rescanMs: 10_000 }, true, 10_000],
    ['none without rescans', { ...pace, rescanMs: null }, false, null],
    ['that of polling even without rescans', { ...pace, rescanMs: null }, true, 60_000],
  ])('is %s', (_, pace, isBlind, pauseMs) => {
    expect(regularScanIntervalMs(pace, isBlind, 0.5)).toBe(pauseMs)
  })

  test('is spread by a tenth either way', () => {
    expect(regularScanIntervalMs(pace, false, 0)).toBe(540_000)
    expect(regularScanIntervalMs(pace, false, 0.999)).toBeCloseTo(659_880)
  })
})

describe('the pause before a prompt scan', () => {
  test.each([
    ['two seconds at least', { ...pace, settleMs: 0 }, 0, 2_000],
    ['longer than a file must rest', { ...pace, settleMs: 4_000 }, 0, 6_000],
    ['twenty times what scanning took', pace, 1_000, 20_000],
  ])('is %s', (_, pace, lastScanMs, pauseMs) => {
    expect(promptScanDelayMs(pace, lastScanMs)).toBe(pauseMs)
  })
})
