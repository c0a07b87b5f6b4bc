import { expect, test } from 'vitest'
import { percentileIndex } from '../../src/rules/sync-summary.ts'

test.each([
  [0, 0.5, -1],
  [1, 0, 0],
  [1, 1, 0],
  [4, 0.5, 2],
  [4, 0.95, 3],
  [4, 1, 3],
])('the place of a percentile is one of the values: %i at %d', (count, share, expected) => {
  expect(percentileIndex(count, share)).toBe(expected)
})
