import { expect, test } from 'vitest'
import { AccessError, InterruptedError, TemporaryError } from '../../src/foundation/errors.ts'
import { silentLogger } from '../../src/foundation/logger.ts'
import { LedgerError } from '../../src/ledger/ledger.ts'
import { LedgerMonitor } from '../../src/sync/fleet/ledger-monitor.ts'
import { manualClock } from '../support/manual-clock.ts'

function monitored() {
  const clock = manualClock(0)
  const log: string[] = []
  const write = (message: string, fields = {}) => void log.push([message, ...Object.values(fields)].join(' '))
  const monitor = new LedgerMonitor({ clock, logger: { ...silentLogger, warn: write, info: write } })
  const call = async (error?: unknown, durationMs = 0) => {
    await clock.advance(1_000)
    monitor.note({ error, durationMs })
    const { state, sinceMs, reason } = monitor.connection
    return [state, sinceMs, reason?.code]
  }
  return { log, call }
}

const AWAY = new TemporaryError('ledger-away', 'it is away')
const REFUSED = new AccessError('ledger-refused', 'wrong password')

test('a ledger is away since its first call that failed began, until one succeeds', async () => {
  const { log, call } = monitored()
  expect(await call()).toEqual(['connected', 1_000, undefined])
  expect(await call()).toEqual(['connected', 1_000, undefined])
  expect(await call(AWAY, 400)).toEqual(['away', 2_600, 'ledger-away'])
  expect(await call(AWAY, 900)).toEqual(['away', 2_600, 'ledger-away'])
  expect(await call()).toEqual(['connected', 5_000, undefined])
  expect(log).toEqual(['the ledger is away; nothing new is sent it is away', 'the ledger is back 2.4 s'])
})

test('what refuses this host is not away, and another reason is another state', async () => {
  const { log, call } = monitored()
  expect(await call(AWAY)).toEqual(['away', 1_000, 'ledger-away'])
  expect(await call(REFUSED)).toEqual(['refused', 2_000, 'ledger-refused'])
  expect(log[1]).toBe('the ledger refuses this host; nothing new is sent wrong password')
})

test('an answer that the host does not like is an answer, and a call that failed in the host says nothing', async () => {
  const { log, call } = monitored()
  expect(await call(new InterruptedError())).toEqual(['unasked', 0, undefined])
  expect(await call(new TypeError('not a function'))).toEqual(['unasked', 0, undefined])
  expect(await call(new LedgerError('session-over', 'over'))).toEqual(['connected', 3_000, undefined])
  expect(await call(new InterruptedError())).toEqual(['connected', 3_000, undefined])
  expect(log).toEqual([])
})
