import type { DaemonStatus } from '../../sync/continuous/controller-status.ts'
import type { StateReader } from '../../sync/reading/state-reader.ts'
import { type EventCounters, registerEvents } from './events.ts'
import { MetricSet } from './metric-set.ts'
import { registerDaemon, registerMirrors, registerProcess } from './status-metrics.ts'
import { registerCounts } from './store-counts.ts'

/** Counts reported events, and renders them with the daemon's status for Prometheus. */
export interface Metrics extends EventCounters {
  /** Returns the text of a scrape. Gauges are read in this call; no timer updates them. */
  render(status: () => DaemonStatus): Promise<string>
  /** MIME type of the text of `render`. */
  readonly contentType: string
}

/** Creates metrics in a registry of their own; docs/monitoring.md lists all of them, and a test compares. */
export function createMetrics(reader: StateReader, version: string): Metrics {
  const metrics = new MetricSet()
  const { registry } = metrics
  const helpOfBuild = 'Always 1; the version of shelfd and of the Node it runs on.'
  const build = metrics.gauge('shelfd_build_info', helpOfBuild, 'version', 'node')
  build.set({ version, node: process.versions.node }, 1)
  const refreshCounts = registerCounts(metrics, () => reader.read('counts', {}))
  const refreshers = [registerDaemon(metrics), registerMirrors(metrics), registerProcess(metrics)]
  return {
    ...registerEvents(metrics),
    contentType: registry.contentType,
    render: async (status) => {
      // The slow counts come first, so that the other values are current when the scrape is answered.
      await refreshCounts(status())
      const now = status()
      for (const refresh of refreshers) refresh(now)
      return await registry.metrics()
    },
  }
}
