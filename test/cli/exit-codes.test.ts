import { describe, expect, test } from 'vitest'
import { EXIT_CODES, exitCodeOf, exitOfCode, worstExit } from '../../src/cli/exit-codes.ts'
import * as errors from '../../src/foundation/errors.ts'

test('the exit codes are those of the documents', () => {
  expect(Object.values(EXIT_CODES).map(({ code }) => code)).toEqual([0, 1, 2, 3, 4, 5, 7, 8, 11, 78, 130])
})

test.each([
  [new errors.UsageError('bad-usage', ''), 2],
  [new errors.RootError('root-missing', ''), 3],
  [new errors.TemporaryError('service-unreachable', ''), 5],
  [new errors.AccessError('credential-refused', ''), 7],
  [new errors.HeldBackError('limit-reached', ''), 8],
  [new errors.LockedError('store-locked', ''), 11],
  [new errors.LockedError('library-locked', ''), 11],
  [new errors.OperatorError('store-damaged', ''), 78],
  [new errors.InterruptedError(), 130],
  [new errors.RequestError('not-found', '', 404), 1],
  [new errors.DoubtError('', 'interrupted'), 1],
  [new errors.FileError('vanished', ''), 1],
  [new Error('bug'), 1],
  ['thrown text', 1],
])('the exit code follows from the error: %s', (error, code) => {
  expect(exitCodeOf(error)).toBe(code)
})

describe('the worst exit', () => {
  test('the worst of several exits is what only a person can fix', () => {
    expect(worstExit(['done', 'temporary', 'usage', 'failed'])).toBe('usage')
    expect(worstExit(['refused', 'operator', 'usage'])).toBe('operator')
    expect(worstExit(['temporary', 'failed'])).toBe('failed')
    expect(worstExit(['done', 'temporary'])).toBe('temporary')
    expect(worstExit([])).toBe('done')
  })

  test('each error code has an exit other than done', () => {
    expect(errors.errorCodes.map((code) => exitOfCode(code))).not.toContain('done')
    expect([exitOfCode('store-damaged'), exitOfCode('disk-full'), exitOfCode(undefined)]).toEqual([
      'operator',
      'temporary',
      'failed',
    ])
  })
})
