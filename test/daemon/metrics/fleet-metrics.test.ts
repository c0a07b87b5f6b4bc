import { describe, expect, onTestFinished, test } from 'vitest'
import { type Figures, FleetFigures } from '../../../src/daemon/fleet-metrics.ts'
import { createMetrics } from '../../../src/daemon/metrics.ts'
import { AccessError, TemporaryError } from '../../../src/foundation/errors.ts'
import { silentLogger } from '../../../src/foundation/logger.ts'
import { openStore } from '../../../src/store/open-store.ts'
import type { LedgerStatus } from '../../../src/sync/fleet/ledger-monitor.ts'
import { openStateReader } from '../../../src/sync/reading/state-reader.ts'
import { daemonStatus, fleetFigures, ledgerStatus } from '../../support/daemon.ts'
import { parseExposition } from '../../support/exposition.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

const MINUTE_MS = 60_000

function metricsOf(read: () => Promise<Figures>) {
  const store = openStore(temporaryDirectory())
  const reader = openStateReader(store.directory)
  onTestFinished(async () => {
    await reader[Symbol.asyncDispose]()
    store[Symbol.dispose]()
  })
  const clock = manualClock()
  const warnings: string[] = []
  const logger = { ...silentLogger, warn: (message: string) => void warnings.push(message) }
  const figures = new FleetFigures({ clock, logger }, read)
  const metrics = createMetrics(reader, '1.2.3', figures)
  const scrape = async (ledger: LedgerStatus | null = ledgerStatus()) => {
    const families = parseExposition(await metrics.render(() => daemonStatus({ ledger })))
    return (name: string) =>
      families.get(name)?.samples.map(({ labels, value }) => [...Object.values(labels), value].join(' '))
  }
  return { ...metrics, clock, warnings, scrape, read: () => figures[Symbol.asyncDispose]() }
}

const AWAY = { state: 'away', reason: { code: 'ledger-away', message: 'refused' } } as const

describe('metrics of a ledger', () => {
  test('a host alone has none, and reads nothing', async () => {
    let reads = 0
    const { scrape } = metricsOf(async () => {
      reads += 1
      return fleetFigures()
    })
    const of = await scrape(null)
    expect(of('shelfd_ready')).toEqual(['1'])
    for (const name of ['shelfd_ledger_up', 'shelfd_ledger_call_seconds', 'shelfd_fleet_hosts'])
      expect(of(name)).toBeUndefined()
    expect(reads).toBe(0)
  })

  test('they say whether it answers, what waits for it and how long the lease lasts', async () => {
    const { scrape } = metricsOf(async () => fleetFigures())
    const well = await scrape(ledgerStatus({ unsettled: 7 }))
    expect(well('shelfd_ledger_up')).toEqual(['1'])
    expect(well('shelfd_ledger_unsettled')).toEqual(['7'])
    expect(well('shelfd_ledger_lease_left_seconds')).toEqual(['45'])
    const away = await scrape(ledgerStatus({ ...AWAY, leaseLeftMs: 0 }))
    expect([away('shelfd_ledger_up'), away('shelfd_ready')]).toEqual([['0'], ['0']])
    expect((await scrape(ledgerStatus({ state: 'unasked' })))('shelfd_ledger_up')).toEqual([])
  })

  test('calls are counted by name and duration', async () => {
    const { scrape, observeLedgerCall } = metricsOf(async () => fleetFigures())
    observeLedgerCall({ name: 'closeSilent', durationMs: 20, error: undefined })
    observeLedgerCall({ name: 'claim', durationMs: 2_000, error: new TemporaryError('ledger-away', 'No') })
    const samples = (await scrape())('shelfd_ledger_call_seconds') ?? []
    expect(samples).toContain('0.005 close-silent 0')
    expect(samples).toContain('0.025 close-silent 1')
    expect(samples).toContain('1 claim 0')
    expect(samples).toContain('2.5 claim 1')
  })
})

describe('metrics of all hosts', () => {
  test('a scrape does not wait for the ledger, and the next one has what was read', async () => {
    const { scrape, read } = metricsOf(async () => fleetFigures())
    expect((await scrape())('shelfd_fleet_claims_open')).toEqual([])
    await read()
    const of = await scrape()
    expect(of('shelfd_fleet_hosts')).toEqual(['open 1', 'closed 1', 'silent 1'])
    expect(of('shelfd_fleet_claims_open')).toEqual(['3'])
    expect(of('shelfd_fleet_doubts')).toEqual(['1'])
    expect(of('shelfd_fleet_second_sends_total')).toEqual(['2'])
    expect(of('shelfd_fleet_sent_today')).toEqual(['6'])
  })

  test('a ledger that never answers keeps no scrape waiting', async () => {
    const { scrape } = metricsOf(() => new Promise(() => {}))
    expect((await scrape())('shelfd_ready')).toEqual(['1'])
    expect((await scrape())('shelfd_fleet_hosts')).toEqual([])
  })

  test.each([
    [1, MINUTE_MS],
    [500, 500_000],
    [2_000, 15 * MINUTE_MS],
  ])('of %d hosts each reads once in %d ms', async (hosts, intervalMs) => {
    let reads = 0
    const { clock, scrape, read } = metricsOf(async () => {
      reads += 1
      const { hosts: listed, totals } = fleetFigures()
      return { hosts: Array.from({ length: hosts }, () => listed[0]).filter((host) => host !== undefined), totals }
    })
    for (let scrapes = 0; scrapes < 3; scrapes += 1) {
      await scrape()
      await read()
    }
    expect(reads).toBe(1)
    await clock.advance(intervalMs - 1)
    await scrape()
    expect(reads).toBe(1)
    await clock.advance(1)
    await scrape()
    expect(reads).toBe(2)
  })

  test('after a reading that failed they have no values, and one that somebody must see to is logged', async () => {
    let answer: () => Figures = fleetFigures
    const { clock, warnings, scrape, read } = metricsOf(async () => answer())
    const next = async () => {
      await clock.advance(15 * MINUTE_MS)
      await scrape()
      await read()
      return (await scrape())('shelfd_fleet_claims_open')
    }
    expect(await next()).toEqual(['3'])
    answer = () => {
      throw new TemporaryError('ledger-away', 'No')
    }
    expect([await next(), warnings]).toEqual([[], []])
    answer = () => {
      throw new AccessError('ledger-refused', 'No')
    }
    expect([await next(), warnings]).toEqual([[], ['cannot read the numbers of all hosts for the metrics']])
    answer = fleetFigures
    expect(await next()).toEqual(['3'])
  })
})
