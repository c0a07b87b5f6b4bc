import { errorCodes } from '../foundation/errors.ts'
import { escapeText } from '../foundation/text/safe-text.ts'
import type { LedgerCall } from '../ledger/observe-ledger.ts'
import type { RequestObservation } from '../remote/client-options.ts'
import { uploadOutcomes } from '../store/tables/uploads.ts'
import { type DaemonStatus, mirrorStates, serviceStates } from '../sync/continuous/controller-status.ts'
import type { MirrorCounts } from '../sync/reading/readings.ts'
import type { StateReader } from '../sync/reading/state-reader.ts'
import type { MetricsSink } from '../sync/sinks.ts'
import { type FleetFigures, FleetMetrics } from './fleet-metrics.ts'
import { listFailingChecks } from './health.ts'
import { MetricSet } from './metric-set.ts'

/** Counts reported events, and renders them with the daemon's status for Prometheus. */
export interface Metrics extends EventCounters {
  /** Reads the current values of gauges. */
  render(status: () => DaemonStatus): Promise<string>
  readonly contentType: string
}

/** docs/monitoring.md describes the metrics, and a test compares the two. `figures`: the numbers of all hosts of the ledger. */
export function createMetrics(reader: StateReader, version: string, figures?: FleetFigures): Metrics {
  const metrics = new MetricSet()
  const { registry } = metrics
  const helpOfBuild = 'Always 1; the version of shelfd and of the Node it runs on.'
  const build = metrics.gauge('shelfd_build_info', helpOfBuild, 'version', 'node')
  build.set({ version, node: process.versions.node }, 1)
  const refreshCounts = registerCounts(metrics, () => reader.read('counts', {}))
  let fleet: FleetMetrics | undefined
  const fleetMetrics = () => {
    fleet ??= new FleetMetrics(figures)
    return fleet
  }
  const refreshers = [registerDaemon(metrics), registerMirrors(metrics), registerProcess(metrics)]
  return {
    ...registerEvents(metrics),
    observeLedgerCall: (call) => fleetMetrics().observeCall(call),
    contentType: registry.contentType,
    render: async (status) => {
      // The slow counts come first, so that the other values are current.
      await refreshCounts(status())
      const now = status()
      for (const refresh of refreshers) refresh(now)
      const own = await registry.metrics()
      return now.ledger ? `${own}\n${await fleetMetrics().render(now.ledger)}` : own
    },
  }
}

/** In seconds. */
const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const REQUEST_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, MINUTE, 5 * MINUTE]
const SEARCHABLE_BUCKETS = [
  ...[1, 2, 5, 10, 30, MINUTE, 2 * MINUTE, 5 * MINUTE, 15 * MINUTE],
  ...[HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 3 * DAY, 7 * DAY],
]

/** Other statuses are counted by their class, such as `5xx`. */
const NAMED_STATUSES = new Set([200, 201, 202, 204, 400, 401, 403, 404, 409, 413, 422, 429, 500, 502, 503, 504])

interface EventCounters extends MetricsSink {
  observeRequest(observation: RequestObservation): void
  observeLedgerCall(call: LedgerCall): void
}

function registerEvents(metrics: MetricSet): Omit<EventCounters, 'observeLedgerCall'> {
  const helpOfMisses = 'Scans that found changes which no watcher had reported.'
  const misses = metrics.counter('shelfd_watcher_misses_total', helpOfMisses)
  const helpOfRequests = 'Requests to the service by route and status; none: no answer came.'
  const requests = metrics.counter('shelfd_requests_total', helpOfRequests, 'route', 'status')
  const helpOfDurations = 'From the start of a request to its answer.'
  const durations = metrics.histogram('shelfd_request_duration_seconds', helpOfDurations, REQUEST_BUCKETS, 'route')
  return {
    ...registerUploads(metrics),
    watcherMissed: (files) => {
      if (files > 0) misses.inc()
    },
    observeRequest: ({ route, status, durationMs }) => {
      requests.inc({ route, status: statusLabel(status) })
      durations.observe({ route }, durationMs / 1_000)
    },
  }
}

function registerUploads(metrics: MetricSet): Pick<MetricsSink, 'uploadEnded' | 'searchableAfter'> {
  const uploads = metrics.counter('shelfd_uploads_total', 'Uploads that ended, by outcome.', 'outcome')
  const bytes = metrics.counter(
    'shelfd_upload_bytes_total',
    'Sizes of the contents whose upload ended, by outcome; created and duplicate were sent whole.',
    'outcome',
  )
  const searchable = metrics.histogram(
    'shelfd_searchable_after_seconds',
    'From the end of an upload until its resource was seen searchable.',
    SEARCHABLE_BUCKETS,
  )
  for (const outcome of uploadOutcomes) for (const counter of [uploads, bytes]) counter.inc({ outcome }, 0)
  return {
    uploadEnded: (outcome, sizeBytes) => {
      uploads.inc({ outcome })
      bytes.inc({ outcome }, sizeBytes)
    },
    searchableAfter: (durationMs) => searchable.observe(durationMs / 1_000),
  }
}

/** Bounds the number of labels. */
function statusLabel(status: number | undefined): string {
  if (status === undefined) return 'none'
  return NAMED_STATUSES.has(status) ? String(status) : `${Math.floor(status / 100)}xx`
}

type Refresh = (status: DaemonStatus) => void

function registerDaemon(metrics: MetricSet): Refresh {
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
    for (const state of serviceStates) service.set({ state }, status.service.state === state ? 1 : 0)
  }
}

/** Unknown times are left out instead of being 0. */
function registerMirrors(metrics: MetricSet): Refresh {
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
      for (const state of mirrorStates) states.set({ mirror, state }, status.state === state ? 1 : 0)
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

/** The names are those of prom-client's own set, which is not used because it would sample the event loop a hundred times a second. */
function registerProcess(metrics: MetricSet): (status: DaemonStatus) => void {
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

const FILE_STATES = {
  searchable: 'searchable',
  'without-text': 'withoutText',
  'in-ingestion': 'inIngestion',
  'to-send': 'toSend',
  sending: 'sending',
  'in-doubt': 'inDoubt',
  'needs-attention': 'needAttention',
  'set-aside': 'setAside',
} as const

const PROBLEM_CODES: ReadonlySet<string> = new Set([
  ...errorCodes,
  ...['ingestion-partial', 'ingestion-failed', 'ingestion-unknown'],
])

function registerCounts(
  metrics: MetricSet,
  read: () => Promise<readonly MirrorCounts[]>,
): (status: DaemonStatus) => Promise<void> {
  const files = metrics.gauge('shelfd_files', 'Files of a mirror by their state.', 'mirror', 'state')
  const contents = metrics.gauge('shelfd_queue_contents', 'Contents that wait to be sent.', 'mirror')
  const bytes = metrics.gauge('shelfd_queue_bytes', 'Bytes of the contents that wait to be sent.', 'mirror')
  const directories = metrics.gauge(
    'shelfd_queue_directories',
    'Directories with files that are not created yet.',
    'mirror',
  )
  const problems = metrics.gauge('shelfd_problems', 'Paths and contents with a problem, by its code.', 'mirror', 'code')
  const helpOfOutcomes = 'Sent contents of present files, by the outcome of their ingestion.'
  const outcomes = metrics.gauge('shelfd_ingestion_contents', helpOfOutcomes, 'mirror', 'outcome')
  return async (status) => {
    const names = new Set(status.mirrors.map(({ name }) => name))
    const counts = (await read()).filter(({ name }) => names.has(name))
    for (const gauge of [files, contents, bytes, directories, problems, outcomes]) gauge.reset()
    for (const { name, queue, ...each } of counts) {
      const mirror = escapeText(name)
      for (const [state, key] of Object.entries(FILE_STATES)) files.set({ mirror, state }, each.files[key])
      contents.set({ mirror }, queue.contents)
      bytes.set({ mirror }, queue.bytes)
      directories.set({ mirror }, each.directoriesToMake)
      for (const [code, n] of each.problems) {
        problems.inc({ mirror, code: PROBLEM_CODES.has(code) ? code : 'other' }, n)
      }
      for (const [outcome, n] of Object.entries(each.outcomes)) outcomes.set({ mirror, outcome }, n)
    }
  }
}
