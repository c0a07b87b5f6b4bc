import { Registry } from 'prom-client'
import type { Clock } from '../foundation/clock.ts'
import type { RequestObservation } from '../remote/client-options.ts'
import type { Store } from '../store/open-store.ts'
import type { MetricsSink } from '../sync/metrics-sink.ts'
import { registerEvents } from './metrics/events.ts'
import { makeGauge } from './metrics/make.ts'
import { registerProcess } from './metrics/process.ts'
import { registerStanding } from './metrics/standing.ts'
import { registerCounts } from './metrics/store-counts.ts'
import type { DaemonStanding } from './standing.ts'

export interface MetricsSource {
  standing(): DaemonStanding
  readonly store: Pick<Store, 'directory'>
  readonly clock: Clock
  /** Of shelfd. */
  readonly version: string
}

/** Counts what it is told, and renders that and where everything stands for Prometheus. */
export interface Metrics extends MetricsSink {
  observeRequest(observation: RequestObservation): void
  /** The text of a scrape; what stands is read now, nothing is kept up to date by a timer. */
  render(): Promise<string>
  /** Of that text. */
  readonly contentType: string
}

/** Metrics in a registry of their own; docs/monitoring.md lists every one and a test compares. */
export function createMetrics(source: MetricsSource): Metrics {
  const registry = new Registry()
  registerBuild(registry, source.version)
  const refreshCounts = registerCounts(registry, source)
  const refreshers = [registerStanding(registry), registerProcess(registry)]
  return {
    ...registerEvents(registry),
    contentType: registry.contentType,
    render: async () => {
      // What takes long comes first: the rest is as it is when the scrape is answered.
      await refreshCounts(source.standing())
      const standing = source.standing()
      for (const refresh of refreshers) refresh(standing)
      return await registry.metrics()
    },
  }
}

function registerBuild(registry: Registry, version: string): void {
  const help = 'Always 1; the version of shelfd and of the Node it runs on.'
  makeGauge(registry, 'shelfd_build_info', help, ['version', 'node']).set({ version, node: process.versions.node }, 1)
}
