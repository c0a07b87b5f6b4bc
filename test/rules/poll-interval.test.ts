import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { pollIntervalMs } from '../../src/rules/retry-delay.ts'

describe('the interval between polls', () => {
  const intervals = fc
    .record({ firstPollMs: fc.integer({ min: 1, max: 10_000 }), growth: fc.integer({ min: 1, max: 1_000 }) })
    .map(({ firstPollMs, growth }) => ({ firstPollMs, maxPollMs: firstPollMs * growth }))
  const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

  test('the poll interval grows and stays within its bounds', () => {
    fc.assert(
      fc.property(fc.nat(100_000), intervals, random, (polls, intervals, random) => {
        const intervalMs = pollIntervalMs({ polls, isOverdue: false }, intervals, random)
        expect(intervalMs).toBeGreaterThanOrEqual(intervals.firstPollMs * 0.9)
        expect(intervalMs).toBeLessThanOrEqual(intervals.maxPollMs * 1.1)
        const nextMs = pollIntervalMs({ polls: polls + 1, isOverdue: false }, intervals, random)
        expect(nextMs).toBeGreaterThanOrEqual(intervalMs)
      }),
    )
  })

  test('the poll interval ends at the longest one', () => {
    const late = { polls: 1_000_000, isOverdue: false }
    expect(pollIntervalMs(late, { firstPollMs: 2_000, maxPollMs: 60_000 }, 0.5)).toBe(60_000)
  })

  test('the poll interval of an overdue resource is twenty times as long', () => {
    const intervals = { firstPollMs: 2_000, maxPollMs: 60_000 }
    expect(pollIntervalMs({ polls: 0, isOverdue: true }, intervals, 0.5)).toBe(40_000)
    expect(pollIntervalMs({ polls: 1_000_000, isOverdue: true }, intervals, 0.5)).toBe(1_200_000)
  })
})
