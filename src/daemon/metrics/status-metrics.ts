import { escapeText } from '../../foundation/text/safe-text.ts'
import type { DaemonStatus, MirrorState, ServiceStatus } from '../../sync/continuous/controller-status.ts'
import { listFailingChecks } from '../health/readiness.ts'
import type { MetricSet } from './metric-set.ts'

type Refresh = (status: DaemonStatus) => void

const SERVICE_STATES: Readonly<Record<ServiceStatus['state'], true>> = {
  unasked: true,
  connected: true,
  away: true,
  refused: true,
}

const MIRROR_STATES: Readonly<Record<MirrorState, true>> = {
  starting: true,
  scanning: true,
  idle: true,
  sending: true,
  waiting: true,
  held: true,
  halted: true,
}

/** Registers gauges of the daemon's status; the returned function updates them. */
export function registerDaemon(metrics: MetricSet): Refresh {
  const ready = metrics.gauge('shelfd_ready', '1 while /readyz answers 200.')
  const full = metrics.gauge('shelfd_store_full', '1 while the disk of the state is full.')
  const uploading = metrics.gauge('shelfd_uploads_in_progress', 'Uploads under way.')
  const inIngestion = metrics.gauge('shelfd_resources_in_ingestion', 'Resources the service still processes.')
  const service = metrics.gauge('shelfd_service_state', '1 for the state of the service, 0 for the others.', 'state')
  return (status) => {
    ready.set(listFailingChecks(status).length === 0 ? 1 : 0)
    full.set(status.isStoreFull ? 1 : 0)
    uploading.set(status.uploading)
    inIngestion.set(status.inIngestion)
    for (const state of Object.keys(SERVICE_STATES)) service.set({ state }, status.service.state === state ? 1 : 0)
  }
}

/** Registers metrics of the status of each mirror; the returned function updates them. Unknown times are left out instead of being 0. */
export function registerMirrors(metrics: MetricSet): Refresh {
  const ofMirror = (name: string, help: string) => metrics.gauge(name, help, 'mirror')
  const helpOfState = '1 for the state of the mirror, 0 for the others.'
  const states = metrics.gauge('shelfd_mirror_state', helpOfState, 'mirror', 'state')
  const limited = ofMirror(
    'shelfd_mirror_watch_limited',
    '1 while the system allows no more watches and the mirror is scanned instead.',
  )
  const settling = ofMirror('shelfd_settling_files', 'Changed files that have not settled yet.')
  const helpOfMissed = 'Changed files that only a scan found.'
  const missed = metrics.counter('shelfd_watcher_missed_files_total', helpOfMissed, 'mirror')
  const times = {
    lastScanAt: ofMirror('shelfd_mirror_last_scan_timestamp_seconds', 'When the last whole scan ended.'),
    lastSuccessAt: ofMirror(
      'shelfd_mirror_last_success_timestamp_seconds',
      'When the mirror last had nothing left to send.',
    ),
    nextRunAt: ofMirror('shelfd_mirror_next_run_timestamp_seconds', 'Next scan or batch that is planned.'),
  }
  return ({ mirrors }) => {
    for (const each of [states, limited, settling, missed, ...Object.values(times)]) each.reset()
    for (const status of mirrors) {
      const mirror = escapeText(status.name)
      for (const state of Object.keys(MIRROR_STATES)) states.set({ mirror, state }, status.state === state ? 1 : 0)
      limited.set({ mirror }, status.isWatchLimited ? 1 : 0)
      settling.set({ mirror }, status.settling)
      missed.inc({ mirror }, status.missedByWatcher)
      for (const key of ['lastScanAt', 'lastSuccessAt', 'nextRunAt'] as const) {
        const atMs = status[key]
        if (atMs !== null) times[key].set({ mirror }, atMs / 1_000)
      }
    }
  }
}

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
