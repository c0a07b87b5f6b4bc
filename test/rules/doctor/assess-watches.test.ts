import { describe, expect, test } from 'vitest'
import { assessWatches, proposedWatches } from '../../../src/rules/doctor/assess-watches.ts'

const LIMIT = 10_000

describe('the watches of the system', () => {
  test.each([
    ['few directories', 1_000, { directories: 8_000, isWatching: false }, 'ok'],
    ['more directories than are left', 1_000, { directories: 8_001, isWatching: false }, 'warning'],
    ['a daemon whose watches are counted already', 9_000, { directories: 8_001, isWatching: true }, 'ok'],
    ['a daemon that has nearly all', 9_001, { directories: 8_001, isWatching: true }, 'warning'],
  ])('watches for nine tenths of the limit are enough: %s', (_, used, need, level) => {
    expect(assessWatches({ used, limit: LIMIT }, need).level).toBe(level)
  })

  test('a warning of few watches says what is used, what mirrors need, and how to get more', () => {
    const use = { used: 9_500, limit: LIMIT }
    const { message, remedy } = assessWatches(use, { directories: 400_000, isWatching: false })
    expect(message).toContain('9,500 of 10,000 used, and the mirrors need 400,000')
    expect(remedy).toContain('max_user_watches=800000')
    // A running daemon has its watches: what it needs is in what is used.
    expect(assessWatches(use, { directories: 400_000, isWatching: true }).message).not.toContain('need')
  })

  test('the proposed limit of watches is twice what is there or needed, and never a small one', () => {
    expect(proposedWatches(8_192)).toBe(524_288)
    expect(proposedWatches(1_000_000)).toBe(2_000_000)
    expect(proposedWatches(1_000_000, 3_000_000)).toBe(6_000_000)
  })
})
