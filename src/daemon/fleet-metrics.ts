import type { Clock } from '../foundation/clock.ts'
import { messageOf, TemporaryError } from '../foundation/errors.ts'
import type { Logger } from '../foundation/logger.ts'
import { MINUTE_MS, SECOND_MS } from '../foundation/text/times.ts'
import { type FleetTotals, type HostView, sessionState } from '../ledger/fleet-view.ts'
import type { LedgerCall } from '../ledger/observe-ledger.ts'
import type { LedgerStatus } from '../sync/fleet/ledger-monitor.ts'
import { MetricSet } from './metric-set.ts'

const CALL_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 10, 30]

/** The metrics of a ledger. They have a registry of their own, since a host without a ledger has none of them. */
export class FleetMetrics {
  readonly #metrics = new MetricSet()
  readonly #figures: FleetFigures | undefined
  readonly #up = this.#metrics.gauge('shelfd_ledger_up', '1 while the ledger answers this host, by its last call.')
  readonly #calls = this.#metrics.histogram(
    'shelfd_ledger_call_seconds',
    'From the start of a call of the ledger to its answer or failure.',
    CALL_BUCKETS,
    'call',
  )
  readonly #unsettled = this.#metrics.gauge(
    'shelfd_ledger_unsettled',
    'Ends of uploads that wait in the state until the ledger takes them.',
  )
  readonly #leaseLeft = this.#metrics.gauge(
    'shelfd_ledger_lease_left_seconds',
    'How long this host may still act without a renewed beat; 0 without a session.',
  )
  readonly #hosts = this.#metrics.gauge('shelfd_fleet_hosts', 'Hosts of the ledger by state.', 'state')
  readonly #claims = this.#metrics.gauge(
    'shelfd_fleet_claims_open',
    'Contents that hosts of the ledger send, or that are in doubt.',
  )
  readonly #doubts = this.#metrics.gauge('shelfd_fleet_doubts', 'Contents of the ledger that are in doubt.')
  readonly #secondSends = this.#metrics.counter(
    'shelfd_fleet_second_sends_total',
    'Contents that two hosts of the ledger sent.',
  )
  readonly #sentToday = this.#metrics.gauge(
    'shelfd_fleet_sent_today',
    'Contents that hosts of the ledger claimed for an upload in the last 24 hours.',
  )

  /** Without `figures` the metrics of all hosts have no values. */
  constructor(figures: FleetFigures | undefined) {
    this.#figures = figures
  }

  observeCall({ name, durationMs }: LedgerCall): void {
    this.#calls.observe({ call: name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`) }, durationMs / 1_000)
  }

  /** Returns the text for a scrape; metrics that are unknown have no value. */
  async render({ state, unsettled, leaseLeftMs }: LedgerStatus): Promise<string> {
    if (state === 'unasked') this.#up.remove()
    else this.#up.set(state === 'connected' ? 1 : 0)
    this.#unsettled.set(unsettled)
    this.#leaseLeft.set(leaseLeftMs / 1_000)
    this.#showFigures(this.#figures?.latest())
    return await this.#metrics.registry.metrics()
  }

  #showFigures(figures: Figures | undefined): void {
    for (const metric of [this.#claims, this.#doubts, this.#secondSends, this.#sentToday]) metric.remove()
    this.#hosts.reset()
    if (!figures) return
    const { hosts, totals } = figures
    for (const state of ['open', 'closed', 'silent'] as const) {
      this.#hosts.set({ state }, hosts.filter((host) => sessionState(host) === state).length)
    }
    this.#claims.set(totals.claims)
    this.#doubts.set(totals.doubts)
    this.#secondSends.inc(totals.secondSends)
    this.#sentToday.set(totals.today)
  }
}

export interface Figures {
  readonly hosts: readonly HostView[]
  readonly totals: FleetTotals
}

/** Bounds of the interval between reads. Every host of a fleet may be scraped, so the more hosts, the rarer each asks the ledger. */
const MIN_INTERVAL_MS = MINUTE_MS
const MAX_INTERVAL_MS = 15 * MINUTE_MS
const INTERVAL_PER_HOST_MS = SECOND_MS

/** Numbers of all hosts. They are read at intervals, and no scrape waits for them. */
export class FleetFigures implements AsyncDisposable {
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #read: () => Promise<Figures>
  #figures: Figures | undefined
  #reading: Promise<void> | undefined
  #dueMs = Number.NEGATIVE_INFINITY

  constructor({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }, read: () => Promise<Figures>) {
    this.#clock = clock
    this.#logger = logger
    this.#read = read
  }

  /** Returns what was read last, undefined before the first read and after a failure; starts another read if one is due. */
  latest(): Figures | undefined {
    if (this.#clock.monotonicMs() >= this.#dueMs) {
      this.#reading ??= this.#refresh().finally(() => {
        this.#reading = undefined
      })
    }
    return this.#figures
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reading
  }

  async #refresh(): Promise<void> {
    try {
      this.#figures = await this.#read()
    } catch (error) {
      this.#figures = undefined
      // If the ledger is away, this host's own metrics say so.
      if (!(error instanceof TemporaryError))
        this.#logger.warn('cannot read the numbers of all hosts for the metrics', { reason: messageOf(error) })
    }
    const hosts = this.#figures?.hosts.length ?? 0
    const intervalMs = Math.min(MAX_INTERVAL_MS, Math.max(MIN_INTERVAL_MS, hosts * INTERVAL_PER_HOST_MS))
    this.#dueMs = this.#clock.monotonicMs() + intervalMs
  }
}
