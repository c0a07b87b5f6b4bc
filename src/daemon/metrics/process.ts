import type { DaemonStatus } from '../../sync/continuous/controller-status.ts'
import type { MetricSet } from './metric-set.ts'

const MICROSECONDS = 1_000_000

/**
 * Registers metrics of the process under the usual names of Prometheus clients, but only those that can be read during a
 * scrape: the set of prom-client samples the event loop a hundred times a second.
 */
export function registerProcess(metrics: MetricSet): (status: DaemonStatus) => void {
  const cpu = metrics.counter('process_cpu_seconds_total', 'Processor time, of the user and the system.')
  const started = metrics.gauge('process_start_time_seconds', 'When the daemon started.')
  const resident = metrics.gauge('process_resident_memory_bytes', 'Memory that is resident.')
  const used = metrics.gauge('nodejs_heap_size_used_bytes', 'JavaScript heap in use.')
  const total = metrics.gauge('nodejs_heap_size_total_bytes', 'JavaScript heap that is allocated.')
  const external = metrics.gauge('nodejs_external_memory_bytes', 'Memory of buffers and native parts.')
  const resources = metrics.gauge('nodejs_active_resources', 'Sockets, watches, timers and requests that are open.')
  return ({ startedAt }) => {
    const memory = process.memoryUsage()
    const { user, system } = process.cpuUsage()
    cpu.reset()
    cpu.inc((user + system) / MICROSECONDS)
    started.set(startedAt / 1_000)
    resident.set(memory.rss)
    used.set(memory.heapUsed)
    total.set(memory.heapTotal)
    external.set(memory.external)
    resources.set(process.getActiveResourcesInfo().length)
  }
}
