import type { Registry } from 'prom-client'
import type { DaemonStatus } from '../../sync/continuous/controller-status.ts'
import { makeCounter, makeGauge, setCounter } from './make.ts'

const MICROSECONDS = 1_000_000

/**
 * Registers metrics of the process under the usual names of Prometheus clients, but only those that can be read during a
 * scrape: the set of prom-client samples the event loop a hundred times a second.
 */
export function registerProcess(registry: Registry): (status: DaemonStatus) => void {
  const cpu = makeCounter(registry, 'process_cpu_seconds_total', 'Processor time, of the user and the system.', [])
  const started = makeGauge(registry, 'process_start_time_seconds', 'When the daemon started.', [])
  const resident = makeGauge(registry, 'process_resident_memory_bytes', 'Memory that is resident.', [])
  const used = makeGauge(registry, 'nodejs_heap_size_used_bytes', 'JavaScript heap in use.', [])
  const total = makeGauge(registry, 'nodejs_heap_size_total_bytes', 'JavaScript heap that is allocated.', [])
  const external = makeGauge(registry, 'nodejs_external_memory_bytes', 'Memory of buffers and native parts.', [])
  const resources = makeGauge(
    registry,
    'nodejs_active_resources',
    'Sockets, watches, timers and requests that are open.',
    [],
  )
  return ({ startedAt }) => {
    const { rss, heapUsed, heapTotal, external: externalBytes } = process.memoryUsage()
    const { user, system } = process.cpuUsage()
    setCounter(cpu, [{ labels: {}, value: (user + system) / MICROSECONDS }])
    started.set(startedAt / 1_000)
    resident.set(rss)
    used.set(heapUsed)
    total.set(heapTotal)
    external.set(externalBytes)
    resources.set(process.getActiveResourcesInfo().length)
  }
}
