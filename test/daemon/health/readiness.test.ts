import { describe, expect, test } from 'vitest'
import { listFailingChecks } from '../../../src/daemon/health.ts'
import type { DaemonMirrorStatus, DaemonStatus } from '../../../src/sync/continuous/controller-status.ts'
import { daemonMirrorStatus, daemonStatus, ledgerStatus } from '../../support/daemon.ts'

function checksOf(change: Partial<DaemonStatus>): string[] {
  return listFailingChecks(daemonStatus(change)).map(({ check, code }) => `${check} ${code}`)
}

function checksOfMirror(change: Partial<DaemonMirrorStatus>): string[] {
  return checksOf({ mirrors: [daemonMirrorStatus(), daemonMirrorStatus({ name: 'Notes', ...change })] })
}

const NEVER_SCANNED = { lastScanAt: null, lastSuccessAt: null }

describe('states in which the daemon is ready', () => {
  test('a daemon without trouble is ready', () => {
    expect(checksOf({})).toEqual([])
  })

  test('a daemon that has not asked the service yet is ready', () => {
    expect(checksOf({ service: { state: 'unasked', sinceMs: 0, reason: null } })).toEqual([])
  })

  test('a ledger that answers, or was not asked yet, leaves the daemon ready', () => {
    expect(checksOf({ ledger: ledgerStatus() })).toEqual([])
    expect(checksOf({ ledger: ledgerStatus({ state: 'unasked', leaseLeftMs: 0 }) })).toEqual([])
  })

  test('a paused mirror leaves the daemon ready', () => {
    const reason = { code: 'paused', message: 'paused by hand' } as const
    expect(checksOfMirror({ state: 'held', reason, ...NEVER_SCANNED })).toEqual([])
  })

  test('a guard that holds uploads back leaves the daemon ready', () => {
    const reason = { code: 'root-emptied', message: 'look at it' } as const
    expect(checksOfMirror({ state: 'held', reason })).toEqual([])
  })

  test('a daemon without mirrors is ready', () => {
    expect(checksOf({ mirrors: [] })).toEqual([])
  })
})

describe('states in which the daemon is not ready', () => {
  test('a service that is away makes the daemon not ready', () => {
    const reason = { code: 'service-unavailable', message: 'HTTP 503' } as const
    expect(checksOf({ service: { state: 'away', sinceMs: 0, reason } })).toEqual(['service service-unavailable'])
  })

  test('a ledger that is away or refuses the host makes the daemon not ready', () => {
    const away = { code: 'ledger-away', message: 'at db.example.com' } as const
    expect(checksOf({ ledger: ledgerStatus({ state: 'away', reason: away }) })).toEqual(['ledger ledger-away'])
    const refused = { code: 'ledger-refused', message: 'wrong password' } as const
    expect(checksOf({ ledger: ledgerStatus({ state: 'refused', reason: refused }) })).toEqual(['ledger ledger-refused'])
  })

  test('a refused credential makes the daemon not ready', () => {
    const reason = { code: 'right-missing', message: 'no' } as const
    expect(checksOf({ service: { state: 'refused', sinceMs: 0, reason } })).toEqual(['credential right-missing'])
  })

  test.each([
    ['credential-refused', /credential/],
    ['certificate-refused', /certificate/],
    ['client-certificate-refused', /client certificate/],
    ['proxy-refused', /proxy/],
  ] as const)('the failing check names what was refused: %s', (code, words) => {
    const service = { state: 'refused', sinceMs: 0, reason: { code, message: 'no' } } as const
    const [check] = listFailingChecks(daemonStatus({ service }))
    expect(check).toMatchObject({ check: 'credential', code, message: expect.stringMatching(words) })
  })

  test('a full disk of the state makes the daemon not ready', () => {
    expect(checksOf({ isStoreFull: true })).toEqual(['store disk-full'])
  })

  test('a halted mirror makes the daemon not ready', () => {
    const reason = { code: 'library-mismatch', message: 'another' } as const
    expect(checksOfMirror({ state: 'halted', reason })).toEqual(['mirror:Notes library-mismatch'])
  })

  test.each(['root-missing', 'root-unreadable'] as const)(
    'the check of a mirror halted by %s states when it continues',
    (code) => {
      const mirrors = [daemonMirrorStatus({ state: 'halted', reason: { code, message: 'not there' } })]
      expect(listFailingChecks(daemonStatus({ mirrors }))).toEqual([
        { check: 'mirror:Papers', code, message: expect.stringContaining('shelfd continues when it') },
      ])
    },
  )

  test('a halted mirror fails its check before its first scan', () => {
    const reason = { code: 'origin-mismatch', message: 'another' } as const
    expect(checksOfMirror({ state: 'halted', reason, ...NEVER_SCANNED })).toEqual(['mirror:Notes origin-mismatch'])
  })

  test.each(['starting', 'scanning', 'waiting'] as const)(
    'a daemon is not ready before the first scan (%s)',
    (state) => {
      expect(checksOfMirror({ state, ...NEVER_SCANNED })).toEqual(['starting null'])
    },
  )

  test('every failing check is listed', () => {
    const mirrors = [daemonMirrorStatus({ state: 'halted', ...NEVER_SCANNED }), daemonMirrorStatus(NEVER_SCANNED)]
    const service = { state: 'away', sinceMs: 0, reason: null } as const
    expect(checksOf({ mirrors, service, isStoreFull: true })).toEqual([
      'service service-unreachable',
      'mirror:Papers null',
      'store disk-full',
      'starting null',
    ])
  })

  test('a failing check reveals neither paths nor received messages', () => {
    const reason = { code: 'root-missing', message: '/home/ada/secret is not there' } as const
    const status = daemonStatus({
      service: { state: 'refused', sinceMs: 0, reason: { code: 'credential-refused', message: 'canary' } },
      mirrors: [daemonMirrorStatus({ state: 'halted', reason })],
    })
    expect(JSON.stringify(listFailingChecks(status))).not.toMatch(/canary|\/home/)
  })
})
