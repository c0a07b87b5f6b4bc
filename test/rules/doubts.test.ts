import { describe, expect, test } from 'vitest'
import { blocksUpload, needsSearch, reactToDoubt } from '../../src/rules/doubts.ts'

describe('an upload in doubt', () => {
  test.each([
    { doubts: 0, failedTries: 0, cause: 'service-error', reaction: { kind: 'resend' } },
    { doubts: 1, failedTries: 0, cause: 'service-error', reaction: { kind: 'quarantine', durationMs: 25_000 } },
    { doubts: 2, failedTries: 1, cause: 'service-error', reaction: { kind: 'quarantine', durationMs: 125_000 } },
    { doubts: 0, failedTries: 3, cause: 'answer-late', reaction: { kind: 'quarantine', durationMs: 3_125_000 } },
    { doubts: 7, failedTries: 2, cause: 'interrupted', reaction: { kind: 'resend' } },
  ] as const)(
    'a doubt has its reaction after $doubts doubts and $failedTries quarantines ($cause) [P4]',
    ({ cause, reaction, ...content }) => {
      expect(reactToDoubt(content, cause)).toMatchObject(reaction)
    },
  )

  test.each([
    { retryAt: null, isSetAside: 0, isSearched: true },
    { retryAt: 1_000, isSetAside: 0, isSearched: true },
    { retryAt: 2_000_000, isSetAside: 0, isSearched: false },
    { retryAt: 1_000, isSetAside: 1, isSearched: false },
  ])('a content in doubt is searched for at once and after quarantines: %j', ({ isSearched, ...content }) => {
    expect(needsSearch(content, 1_900_000)).toBe(isSearched)
  })
})

test.each([
  ['temporary', 0, true],
  ['temporary', 3, true],
  ['request', 1, false],
  ['request', 2, true],
  ['access', 0, false],
] as const)('an incomparable candidate blocks the upload or not: %s after %i doubts [P4]', (kind, doubts, blocks) => {
  expect(blocksUpload({ kind }, doubts)).toBe(blocks)
})
