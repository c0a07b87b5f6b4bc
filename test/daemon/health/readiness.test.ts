import { describe, expect, test } from 'vitest'
import type { DaemonMirrorStatus, DaemonStatus } from '../../../src/daemon/daemon-status.ts'
import { listFailingChecks } from '../../../src/daemon/health/readiness.ts'
import { daemonMirrorStatus, daemonStatus } from '../../support/daemon-status.ts'

function checksOf(change: Partial<DaemonStatus>): string[] {
  return listFailingChecks(daemonStatus(change)).map(({ check, code }) => `${check} ${code}`)
}

function checksOfMirror(change: Partial<DaemonMirrorStatus>): string[] {
  return checksOf({ mirrors: [daemonMirrorStatus(), daemonMirrorStatus({ name: 'Notes', ...change })] })
}

const NEVER_SCANNED = { lastScanAt: null, lastSuccessAt: null }

describe('the daemon is ready', () => {
  test('when all is well', () => {
    expect(checksOf({})).toEqual([])
  })

  test('before it had to ask the service', () => {
    expect(checksOf({ service: { state: 'unasked', sinceMs: 0, reason: null } })).toEqual([])
  })

  test('while a mirror rests on purpose', () => {
    const reason = { code: 'paused', message: 'paused by hand' } as const
    expect(checksOfMirror({ state: 'held', reason, ...NEVER_SCANNED })).toEqual([])
  })

  test('while a guard holds uploads back', () => {
    const reason = { code: 'root-emptied', message: 'look at it' } as const
    expect(checksOfMirror({ state: 'held', reason })).toEqual([])
  })

  test('without any mirror to look after', () => {
    expect(checksOf({ mirrors: [] })).toEqual([])
  })
})

describe('the daemon is not ready', () => {
  test('while the service is away', () => {
    const reason = { code: 'service-unavailable', message: 'HTTP 503' } as const
    expect(checksOf({ service: { state: 'away', sinceMs: 0, reason } })).toEqual(['service service-unavailable'])
  })

  test('when the credential was refused', () => {
    const reason = { code: 'right-missing', message: 'no' } as const
    expect(checksOf({ service: { state: 'refused', sinceMs: 0, reason } })).toEqual(['credential right-missing'])
  })

  test.each([
    ['credential-refused', /credential/],
    ['certificate-refused', /certificate/],
    ['proxy-refused', /proxy/],
  ] as const)('and says what is refused: %s', (code, words) => {
    const service = { state: 'refused', sinceMs: 0, reason: { code, message: 'no' } } as const
    const [check] = listFailingChecks(daemonStatus({ service }))
    expect(check).toMatchObject({ check: 'credential', code, message: expect.stringMatching(words) })
  })

  test('while the disk of its state is full', () => {
    expect(checksOf({ isStoreFull: true })).toEqual(['store disk-full'])
  })

  test('while a mirror is halted', () => {
    const reason = { code: 'library-mismatch', message: 'another' } as const
    expect(checksOfMirror({ state: 'halted', reason })).toEqual(['mirror:Notes library-mismatch'])
  })

  test.each(['root-missing', 'root-unreadable'] as const)(
    'while a mirror is halted by %s, which ends by itself',
    (code) => {
      const mirrors = [daemonMirrorStatus({ state: 'halted', reason: { code, message: 'not there' } })]
      expect(listFailingChecks(daemonStatus({ mirrors }))).toEqual([
        { check: 'mirror:Papers', code, message: expect.stringContaining('shelfd continues when it') },
      ])
    },
  )

  test('while one is halted that was never scanned', () => {
    const reason = { code: 'origin-mismatch', message: 'another' } as const
    expect(checksOfMirror({ state: 'halted', reason, ...NEVER_SCANNED })).toEqual(['mirror:Notes origin-mismatch'])
  })

  test.each(['starting', 'scanning', 'waiting'] as const)('before the first scan of one %s', (state) => {
    expect(checksOfMirror({ state, ...NEVER_SCANNED })).toEqual(['starting null'])
  })

  test('and names every check that fails', () => {
    const mirrors = [daemonMirrorStatus({ state: 'halted', ...NEVER_SCANNED }), daemonMirrorStatus(NEVER_SCANNED)]
    const service = { state: 'away', sinceMs: 0, reason: null } as const
    expect(checksOf({ mirrors, service, isStoreFull: true })).toEqual([
      'service service-unreachable',
      'mirror:Papers null',
      'store disk-full',
      'starting null',
    ])
  })

  test('tells neither paths nor what others said', () => {
    const reason = { code: 'root-missing', message: '/home/ada/secret is not there' } as const
    const status = daemonStatus({
      service: { state: 'refused', sinceMs: 0, reason: { code: 'credential-refused', message: 'canary' } },
      mirrors: [daemonMirrorStatus({ state: 'halted', reason })],
    })
    expect(JSON.stringify(listFailingChecks(status))).not.toMatch(/canary|\/home/)
  })
})
