import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lastTryAfterMs, longestDelayMs, retryDelayMs } from '../../src/rules/retry-delay.ts'

const policies = fc.record({
  attempts: fc.integer({ min: 1, max: 50 }),
  firstDelayMs: fc.integer({ min: 1, max: 10_000 }),
  maxDelayMs: fc.integer({ min: 10_000, max: 600_000 }),
})
const attempts = fc.integer({ min: 1, max: 5_000 })
const randoms = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

describe('retryDelayMs', () => {
  it('the retry delay never exceeds its bound', () => {
    fc.assert(
      fc.property(attempts, policies, randoms, (attempt, policy, random) => {
        const delayMs = retryDelayMs(attempt, policy, random)
        expect(delayMs).toBeGreaterThan(0)
        expect(delayMs).toBeLessThanOrEqual(policy.maxDelayMs)
      }),
    )
  })

  it('the retry delay is never shorter than Retry-After', () => {
    fc.assert(
      fc.property(attempts, policies, randoms, fc.nat({ max: 10 ** 9 }), (attempt, policy, random, retryAfterMs) => {
        const delayMs = retryDelayMs(attempt, policy, random, retryAfterMs)
        expect(delayMs).toBeGreaterThanOrEqual(retryAfterMs)
        expect(delayMs).toBeLessThanOrEqual(retryAfterMs + policy.maxDelayMs)
      }),
    )
  })

  it('the lower bound of the retry delay rises with every attempt', () => {
    fc.assert(
      fc.property(attempts, policies, fc.nat({ max: 100_000 }), (attempt, policy, retryAfterMs) => {
        const lowest = (at: number) => retryDelayMs(at, policy, 0, retryAfterMs)
        expect(lowest(attempt + 1)).toBeGreaterThanOrEqual(lowest(attempt))
      }),
    )
  })
})

describe('lastTryAfterMs', () => {
  it('no last try fails later than expected, whatever the delays', () => {
    const tries = fc.array(randoms, { minLength: 50, maxLength: 50 })
    fc.assert(
      fc.property(policies, tries, fc.nat({ max: 60_000 }), (policy, chances, triedForMs) => {
        const delays = chances.slice(0, policy.attempts - 1).map((random, at) => retryDelayMs(at + 1, policy, random))
        const [delayMs = 0] = delays
        const lastAtMs = delays.reduce((sum, each) => sum + each + triedForMs, 0)
        if (policy.attempts === 1) return
        const expectedMs = lastTryAfterMs(1, policy, { delayMs, triedForMs })
        expect(lastAtMs).toBeLessThanOrEqual(expectedMs)
      }),
    )
  })

  it('tries that are not counted have no last one', () => {
    const policy = { attempts: Number.POSITIVE_INFINITY, firstDelayMs: 500, maxDelayMs: 30_000 }
    expect(lastTryAfterMs(1, policy, { delayMs: 500, triedForMs: 0 })).toBe(Number.POSITIVE_INFINITY)
    expect(lastTryAfterMs(2, { ...policy, attempts: 4 }, { delayMs: 700, triedForMs: 10 })).toBe(2_720)
  })
})

const DAY_MS = 86_400_000

it.each([
  [1, 0, 500],
  [1, 0.5, 750],
  [3, 0, 2_000],
  [4, 0, 4_000],
  [5, 0, 5_000],
  [5, 0.5, 7_500],
  [9, 0, 5_000],
])('the retry delay doubles, half of it by chance: try %i, %f', (attempt, random, delayMs) => {
  expect(retryDelayMs(attempt, { attempts: 9, firstDelayMs: 1_000, maxDelayMs: 10_000 }, random)).toBe(delayMs)
})

it.each([
  [undefined, DAY_MS],
  [5_000, 5_000],
  [0, 0],
  [2 * DAY_MS, 2 * DAY_MS],
])('the longest Retry-After is a day unless configured: %s', (longestRetryAfterMs, longestMs) => {
  const policy = { attempts: 1, firstDelayMs: 1, maxDelayMs: 1 }
  expect(
    longestDelayMs(
      longestRetryAfterMs === undefined ? policy : { ...policy, longestRetryAfterMs: longestRetryAfterMs },
    ),
  ).toBe(longestMs)
})
