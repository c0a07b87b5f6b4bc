import { expect, test } from 'vitest'
import { findLedgerGap } from '../../src/rules/ledger-gap.ts'

test.each([
  ['g/2', false, false, undefined],
  ['g/2', false, true, undefined],
  ['g/1', false, true, 'moved'],
  ['g/1', true, true, 'lacks-ours'],
  ['g/2', true, true, 'lacks-ours'],
  ['g/lost', false, true, 'lacks-ours'],
  ['other/2', false, false, 'another'],
  ['other/lost', false, true, 'another'],
  [undefined, false, false, undefined],
  [undefined, false, true, 'moved-before'],
] as const)('a host that knows %s and lost %s meets a ledger that moved %s: %s', (last, hasLost, hasMoved, gap) => {
  expect(findLedgerGap(last, hasLost, { generation: 'g', timeline: 2, hasMoved })).toBe(gap)
})
