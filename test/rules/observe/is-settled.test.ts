import { describe, expect, test } from 'vitest'
import { ageMsOf, isSettled } from '../../../src/rules/observe/is-settled.ts'

const NOW_MS = 1_800_000_000_000
const timesAt = (mtimeMs: number, ctimeMs: number) => ({
  mtimeNs: BigInt(mtimeMs) * 1_000_000n,
  ctimeNs: BigInt(ctimeMs) * 1_000_000n,
})

describe('the age of a file', () => {
  test.each([
    ['written last', timesAt(NOW_MS - 300, NOW_MS - 900), 300],
    ['renamed last', timesAt(NOW_MS - 900, NOW_MS - 300), 300],
    ['of tomorrow', timesAt(NOW_MS + 86_400_000, NOW_MS), -86_400_000],
  ])('the age of a file counts from its newest time: %s', (_, times, ageMs) => {
    expect(ageMsOf(times, NOW_MS)).toBe(ageMs)
  })

  test('a file is settled when it is as old as the settle time', () => {
    const times = timesAt(NOW_MS - 300, NOW_MS - 300)
    expect([299, 300, 301].map((settleMs) => isSettled(times, NOW_MS, settleMs))).toEqual([true, true, false])
    expect(isSettled(timesAt(NOW_MS + 1, NOW_MS), NOW_MS, 0)).toBe(false)
  })
})
