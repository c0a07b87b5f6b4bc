import { Registry } from 'prom-client'
import type { Clock } from '../../foundation/clock.ts'
import type { RequestObservation } from '../../remote/client-options.ts'
import type { Store } from '../../store/open-store.ts'
import type { DaemonStatus } from '../../sync/continuous/controller-status.ts'
import type { MetricsSink } from '../../sync/sinks.ts'
import { registerEvents } from './events.ts'
import { makeGauge } from './make.ts'
import { registerProcess } from './process.ts'
import { registerStatus } from './status-metrics.ts'
import { registerCounts } from './store-counts.ts'

export interface MetricsSource {
  status(): DaemonStatus
  readonly store: Pick<Store, 'directory'>
  readonly clock: Clock
  /** Of shelfd. */
  readonly version: string
}

/** Counts reported events, and renders them with the daemon's status for Prometheus. */
export interface Metrics extends MetricsSink {
  observeRequest(observation: RequestObservation): void
  /** Returns the text of a scrape. Gauges are read in this call; no timer updates them. */
  render(): Promise<string>
  /** MIME type of the text of `render`. */
  readonly contentType: string
}

/** Creates metrics in a registry of their own; docs/monitoring.md lists all of them, and a test compares. */
export function createMetrics(source: MetricsSource): Metrics {
  const registry = new Registry()
  registerBuild(registry, source.version)
  const refreshCounts = registerCounts(registry, source)
  const refreshers = [registerStatus(registry), registerProcess(registry)]
  return {
    ...registerEvents(registry),
    contentType: registry.contentType,
    render: async () => {
      // The slow counts come first, so that the other values are current when the scrape is answered.
      await refreshCounts(source.status())
      const status = source.status()
      for (const refresh of refreshers) refresh(status)
      return await registry.metrics()
    },
  }
}

function registerBuild(registry: Registry, version: string): void {
  const help = 'Always 1; the version of shelfd and of the Node it runs on.'
  makeGauge(registry, 'shelfd_build_info', help, ['version', 'node']).set({ version, node: process.versions.node }, 1)
}
