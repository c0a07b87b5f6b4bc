import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DAY_MS } from '../../src/foundation/text/times.ts'
import { ageMsOf, isSettled } from '../../src/rules/settled-files.ts'

const NOW_MS = 1_800_000_000_000
const timesAt = (mtimeMs: number, ctimeMs: number) => ({
  mtimeNs: BigInt(mtimeMs) * 1_000_000n,
  ctimeNs: BigInt(ctimeMs) * 1_000_000n,
})

describe('the age of a file', () => {
  test.each([
    ['written last', timesAt(NOW_MS - 300, NOW_MS - 900), 300],
    ['renamed last', timesAt(NOW_MS - 900, NOW_MS - 300), 300],
    ['dated tomorrow', timesAt(NOW_MS + DAY_MS, NOW_MS - 300), 300],
    ['dated in 2262, as the last date that there is', { ...timesAt(0, NOW_MS - 300), mtimeNs: 2n ** 63n - 1n }, 300],
    ['on a disk whose clock is ahead by an hour', timesAt(NOW_MS + 3_600_000, NOW_MS + 3_600_000), 0],
    ['on a disk whose clock is ahead by years', timesAt(NOW_MS + 400 * DAY_MS, NOW_MS + 500 * DAY_MS), 400 * DAY_MS],
  ])('the age of a file counts from its newest time that is not in the future: %s [F-FS-17]', (_, times, ageMs) => {
    expect(ageMsOf(times, NOW_MS)).toBe(ageMs)
  })

  test('the age of a file is never below zero [F-FS-17]', () => {
    const timeMs = fc.integer({ min: -9_000_000_000_000, max: 9_000_000_000_000 })
    fc.assert(
      fc.property(timeMs, timeMs, (mtimeMs, ctimeMs) => {
        expect(ageMsOf(timesAt(mtimeMs, ctimeMs), NOW_MS)).toBeGreaterThanOrEqual(0)
      }),
    )
  })

  test('a file is settled when it is as old as the settle time', () => {
    const times = timesAt(NOW_MS - 300, NOW_MS - 300)
    expect([299, 300, 301].map((settleMs) => isSettled(times, NOW_MS, settleMs))).toEqual([true, true, false])
    expect(isSettled(timesAt(NOW_MS + 1, NOW_MS + 1), NOW_MS, 1)).toBe(false)
  })
})
