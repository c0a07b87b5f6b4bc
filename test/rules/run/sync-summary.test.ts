import { expect, test } from 'vitest'
import { percentile } from '../../../src/rules/run/sync-summary.ts'

test.each([
  [[], 0.5, undefined],
  [[7], 0, 7],
  [[7], 1, 7],
  [[1, 2, 3, 4], 0.5, 3],
  [[1, 2, 3, 4], 0.95, 4],
  [[1, 2, 3, 4], 1, 4],
])('a percentile is one of the values: %j at %d', (values, share, expected) => {
  expect(percentile(values, share)).toBe(expected)
})
