import { describe, expect, test } from 'vitest'
import { type ErrorCode, errorCodes, type Reaction } from '../../src/foundation/errors.ts'
import { type FailureScope, reactToFailure } from '../../src/rules/react-to-failure.ts'

/** Every code, and what its failure stops; `?`: the requested item may still be the cause. */
const CASES: readonly (readonly [Reaction, ErrorCode, FailureScope, '' | '?'])[] = [
  ['usage', 'bad-usage', 'mirror', ''],
  ['usage', 'bad-configuration', 'mirror', ''],
  ['usage', 'unknown-mirror', 'mirror', ''],
  ['usage', 'unknown-library', 'mirror', ''],
  ['usage', 'mirrors-overlap', 'mirror', ''],
  ['usage', 'insecure-file', 'mirror', ''],
  ['usage', 'running-as-root', 'mirror', ''],
  ['usage', 'old-node', 'mirror', ''],
  ['root', 'root-missing', 'root', ''],
  ['root', 'root-unreadable', 'root', ''],
  ['temporary', 'service-unreachable', 'service', ''],
  ['temporary', 'service-throttling', 'service', ''],
  ['temporary', 'service-unavailable', 'service', '?'],
  ['temporary', 'service-error', 'service', '?'],
  ['temporary', 'answer-malformed', 'service', '?'],
  ['temporary', 'answer-late', 'service', '?'],
  ['temporary', 'disk-full', 'store', ''],
  ['refused', 'credential-missing', 'service', ''],
  ['refused', 'credential-refused', 'service', ''],
  ['refused', 'certificate-refused', 'service', ''],
  ['refused', 'client-certificate-refused', 'service', ''],
  ['refused', 'proxy-refused', 'service', ''],
  ['refused', 'redirect-refused', 'service', '?'],
  ['refused', 'right-missing', 'mirror', '?'],
  ['refused', 'origin-mismatch', 'mirror', ''],
  ['refused', 'tenant-mismatch', 'mirror', ''],
  ['refused', 'library-mismatch', 'mirror', ''],
  ['refused', 'root-mismatch', 'root', ''],
  ['heldBack', 'limit-reached', 'run', ''],
  ['heldBack', 'root-emptied', 'mirror', ''],
  ['heldBack', 'confirmation-needed', 'mirror', ''],
  ['locked', 'store-locked', 'program', ''],
  ['operator', 'store-newer', 'program', ''],
  ['operator', 'store-damaged', 'program', ''],
  ['operator', 'store-unusable', 'program', ''],
  ['operator', 'too-many-open-files', 'program', ''],
  ['operator', 'library-damaged', 'program', ''],
  ['interrupted', 'interrupted', 'run', ''],
  ['rejected', 'not-found', 'item', '?'],
  ['rejected', 'conflict', 'item', '?'],
  ['rejected', 'too-large', 'item', '?'],
  ['rejected', 'invalid', 'item', '?'],
  ['rejected', 'request-rejected', 'item', '?'],
  ['doubt', 'upload-in-doubt', 'item', '?'],
  ['file', 'busy', 'item', '?'],
  ['file', 'vanished', 'item', '?'],
  ['file', 'unreadable', 'item', '?'],
  ['file', 'outside-root', 'item', '?'],
  ['file', 'unsupported', 'item', '?'],
  ['file', 'over-max-size', 'item', '?'],
  ['file', 'name-not-utf8', 'item', '?'],
  ['file', 'io-error', 'item', '?'],
  ['internal', 'unexpected', 'program', ''],
]

describe('a failure', () => {
  test.each(CASES)('a failure of %s, %s, stops its %s%s', (reaction, code, scope, doubt) => {
    expect(reactToFailure({ reaction, code })).toMatchObject({ scope, mayBeItem: doubt === '?' })
  })

  test('each error code has a case in this table', () => {
    expect(CASES.map(([, code]) => code).sort()).toEqual([...errorCodes].sort())
  })

  test('a broken connection may be due to its item', () => {
    const reaction = 'temporary'
    const unreachable = { reaction, code: 'service-unreachable', wasReached: true } as const
    expect(reactToFailure(unreachable)).toMatchObject({ scope: 'service', mayBeItem: true })
    expect(reactToFailure({ ...unreachable, code: 'service-throttling' }).mayBeItem).toBe(false)
  })
})

describe('the reaction to a failure', () => {
  test.each([
    ['item', 'rejected', 'too-large', { stopsRun: false, state: 'halted', delayMs: 900_000 }],
    ['mirror', 'heldBack', 'root-emptied', { stopsRun: false, state: 'halted', delayMs: 900_000 }],
    ['root', 'root', 'root-missing', { stopsRun: false, state: 'halted', delayMs: 10_000 }],
    ['store', 'temporary', 'disk-full', { stopsRun: true, state: 'waiting', delayMs: 10_000 }],
    ['service', 'refused', 'credential-refused', { stopsRun: true, state: 'waiting', delayMs: null }],
    ['run', 'interrupted', 'interrupted', { stopsRun: true, state: 'waiting', delayMs: null }],
    ['program', 'operator', 'store-damaged', { stopsRun: true, state: 'stopped', delayMs: null }],
  ] as const)('the failure of one %s has its reaction: %s, %s', (scope, reaction, code, expected) => {
    expect(reactToFailure({ reaction, code })).toEqual({ scope, mayBeItem: scope === 'item', ...expected })
  })
})
