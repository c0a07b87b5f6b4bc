import { describe, expect, test } from 'vitest'
import { type ErrorCode, type ErrorKind, errorCodes } from '../../src/foundation/errors.ts'
import { type FailureScope, reactToFailure } from '../../src/rules/react-to-failure.ts'

/** Every code, and what its failure stops; `?`: the requested item may still be the cause. */
const CASES: readonly (readonly [ErrorKind, ErrorCode, FailureScope, '' | '?'])[] = [
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
  ['temporary', 'service-full', 'store', ''],
  ['temporary', 'connection-closed', 'run', ''],
  ['temporary', 'disk-full', 'store', ''],
  ['temporary', 'ledger-away', 'store', ''],
  ['access', 'credential-missing', 'service', ''],
  ['access', 'credential-refused', 'service', ''],
  ['access', 'certificate-refused', 'service', ''],
  ['access', 'client-certificate-refused', 'service', ''],
  ['access', 'proxy-refused', 'service', ''],
  ['access', 'ledger-refused', 'mirror', ''],
  ['access', 'redirect-refused', 'service', '?'],
  ['access', 'right-missing', 'mirror', '?'],
  ['access', 'origin-mismatch', 'mirror', ''],
  ['access', 'tenant-mismatch', 'mirror', ''],
  ['access', 'library-mismatch', 'mirror', ''],
  ['access', 'root-mismatch', 'root', ''],
  ['root', 'hook-failed', 'mirror', ''],
  ['heldBack', 'limit-reached', 'run', ''],
  ['heldBack', 'root-emptied', 'mirror', ''],
  ['heldBack', 'confirmation-needed', 'mirror', ''],
  ['locked', 'store-locked', 'program', ''],
  ['locked', 'library-locked', 'program', ''],
  ['operator', 'store-newer', 'program', ''],
  ['operator', 'store-damaged', 'program', ''],
  ['operator', 'store-unusable', 'program', ''],
  ['operator', 'too-many-open-files', 'program', ''],
  ['operator', 'library-damaged', 'program', ''],
  ['operator', 'ledger-unusable', 'program', ''],
  ['operator', 'ledger-newer', 'program', ''],
  ['operator', 'host-in-use', 'program', ''],
  ['interrupted', 'interrupted', 'run', ''],
  ['request', 'not-found', 'item', '?'],
  ['request', 'conflict', 'item', '?'],
  ['request', 'too-large', 'item', '?'],
  ['request', 'invalid', 'item', '?'],
  ['request', 'request-rejected', 'item', '?'],
  ['doubt', 'upload-in-doubt', 'item', '?'],
  ['file', 'busy', 'item', '?'],
  ['file', 'vanished', 'item', '?'],
  ['file', 'unreadable', 'item', '?'],
  ['file', 'outside-root', 'item', '?'],
  ['file', 'unsupported', 'item', '?'],
  ['file', 'over-max-size', 'item', '?'],
  ['file', 'name-not-utf8', 'item', '?'],
  ['file', 'not-recorded', 'item', '?'],
  ['file', 'io-error', 'item', '?'],
  ['internal', 'unexpected', 'program', ''],
]

describe('a failure', () => {
  test.each(CASES)('a failure of %s, %s, stops its %s%s', (kind, code, scope, doubt) => {
    expect(reactToFailure({ kind, code })).toMatchObject({ scope, mayBeItem: doubt === '?' })
  })

  test('each error code has a case in this table', () => {
    expect(CASES.map(([, code]) => code).sort()).toEqual([...errorCodes].sort())
  })

  test('a broken connection may be due to its item', () => {
    const unreachable = { kind: 'temporary', code: 'service-unreachable', wasConnected: true } as const
    expect(reactToFailure(unreachable)).toMatchObject({ scope: 'service', mayBeItem: true })
    expect(reactToFailure({ ...unreachable, code: 'service-throttling' }).mayBeItem).toBe(false)
  })
})

test.each([
  ['item', 'request', 'too-large', { stopsRun: false, state: 'halted', delayMs: 900_000 }],
  ['mirror', 'heldBack', 'root-emptied', { stopsRun: false, state: 'halted', delayMs: 900_000 }],
  ['root', 'root', 'root-missing', { stopsRun: false, state: 'halted', delayMs: 10_000 }],
  ['store', 'temporary', 'disk-full', { stopsRun: true, state: 'waiting', delayMs: 10_000 }],
  ['service', 'access', 'credential-refused', { stopsRun: true, state: 'waiting', delayMs: null }],
  ['run', 'interrupted', 'interrupted', { stopsRun: true, state: 'waiting', delayMs: null }],
  ['program', 'operator', 'store-damaged', { stopsRun: true, state: 'stopped', delayMs: null }],
] as const)('the failure of one %s has its reaction: %s, %s', (scope, kind, code, expected) => {
  expect(reactToFailure({ kind, code })).toEqual({ scope, mayBeItem: scope === 'item', ...expected })
})
