import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { quarantineDurationMs, quarantineLeftMs } from '../../src/rules/retry-delay.ts'

describe('the duration of a quarantine', () => {
  const DAY_MS = 86_400_000

  test('quarantines grow fivefold from 25 s to a day [F-SV-10]', () => {
    const durationsS = [0, 1, 2, 3, 4, 5, 6].map((refusals) => quarantineDurationMs(refusals, 'invalid') / 1_000)
    expect(durationsS).toEqual([25, 125, 625, 3_125, 15_625, 78_125, 86_400])
  })

  test('quarantines are whole, growing and bounded', () => {
    fc.assert(
      fc.property(fc.nat(10_000), fc.constantFrom('invalid', 'too-large', 'ingestion-failed'), (refusals, code) => {
        const durationMs = quarantineDurationMs(refusals, code)
        expect(Number.isInteger(durationMs)).toBe(true)
        expect(durationMs).toBeGreaterThanOrEqual(25_000)
        expect(durationMs).toBeLessThanOrEqual(DAY_MS)
        expect(quarantineDurationMs(refusals + 1, code)).toBeGreaterThanOrEqual(durationMs)
      }),
    )
  })

  test('a content that is too large has the longest quarantine [F-SV-10]', () => {
    expect(quarantineDurationMs(0, 'too-large')).toBe(DAY_MS)
  })
})

describe('a quarantine', () => {
  const DAY_MS = 86_400_000

  test.each([
    { retryAt: null, leftMs: 0 },
    { retryAt: 0, leftMs: 0 },
    { retryAt: 1e12 + 1, leftMs: 1 },
    { retryAt: 1e12 + DAY_MS, leftMs: DAY_MS },
    { retryAt: 1e12 + DAY_MS + 1, leftMs: 0 },
  ])('a quarantine never lasts longer than its longest duration: %j', ({ retryAt, leftMs }) => {
    expect(quarantineLeftMs(retryAt, 1e12)).toBe(leftMs)
  })
})
