import { expect, test } from 'vitest'
import { isScrubDue } from '../../../src/rules/observe/is-scrub-due.ts'

const DAY_MS = 86_400_000
const NOW = 20_000 * DAY_MS

test.each([
  ['a day ago', -DAY_MS, DAY_MS, true],
  ['almost a day ago', 1 - DAY_MS, DAY_MS, false],
  ['in the future, by a moment', 1_000, DAY_MS, false],
  ['in the future, by years', 3_650 * DAY_MS, DAY_MS, true],
  ['years ago, without an interval', -3_650 * DAY_MS, null, false],
])('a scrub waits no longer than its interval, from %s', (_, scrubbedMs, intervalMs, isDue) => {
  expect(isScrubDue(NOW + scrubbedMs, intervalMs, NOW)).toBe(isDue)
})
