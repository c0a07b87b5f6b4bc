import type { Registry } from 'prom-client'
import type { RequestObservation } from '../../remote/client-options.ts'
import type { UploadOutcome } from '../../store/tables/uploads.ts'
import type { MetricsSink } from '../../sync/sinks.ts'
import { makeCounter, makeHistogram } from './make.ts'

const OUTCOMES: Readonly<Record<UploadOutcome, true>> = {
  created: true,
  duplicate: true,
  adopted: true,
  absent: true,
  refused: true,
  doubt: true,
  'not-sent': true,
}

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const REQUEST_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, MINUTE, 5 * MINUTE]
const SEARCHABLE_BUCKETS = [
  ...[1, 2, 5, 10, 30, MINUTE, 2 * MINUTE, 5 * MINUTE, 15 * MINUTE],
  ...[HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 3 * DAY, 7 * DAY],
]

/** HTTP statuses that the interface defines; every other one is counted under its class. */
const NAMED_STATUSES = new Set([200, 201, 202, 204, 400, 401, 403, 404, 409, 413, 422, 429, 500, 502, 503, 504])

/** Registers counters of events. */
export function registerEvents(
  registry: Registry,
): MetricsSink & { observeRequest(observation: RequestObservation): void } {
  const misses = makeCounter(
    registry,
    'shelfd_watcher_misses_total',
    'Scans that found changes which no watcher had reported.',
    [],
  )
  return {
    ...registerUploads(registry),
    watcherMissed: (files) => {
      if (files > 0) misses.inc()
    },
    observeRequest: registerRequests(registry),
  }
}

function registerUploads(registry: Registry): Pick<MetricsSink, 'uploadEnded' | 'searchableAfter'> {
  const uploads = makeCounter(registry, 'shelfd_uploads_total', 'Uploads that ended, by outcome.', ['outcome'])
  const bytes = makeCounter(
    registry,
    'shelfd_upload_bytes_total',
    'Sizes of the contents whose upload ended, by outcome; created and duplicate were sent whole.',
    ['outcome'],
  )
  const name = 'shelfd_searchable_after_seconds'
  const shape = { name, help: 'From the end of an upload until its resource was seen searchable.', labelNames: [] }
  const searchable = makeHistogram(registry, shape, SEARCHABLE_BUCKETS)
  for (const outcome of Object.keys(OUTCOMES)) for (const counter of [uploads, bytes]) counter.inc({ outcome }, 0)
  return {
    uploadEnded: (outcome, sizeBytes) => {
      uploads.inc({ outcome })
      bytes.inc({ outcome }, sizeBytes)
    },
    searchableAfter: (durationMs) => searchable.observe(durationMs / 1_000),
  }
}

function registerRequests(registry: Registry): (observation: RequestObservation) => void {
  const requests = makeCounter(
    registry,
    'shelfd_requests_total',
    'Requests to the service by route and status; none: no answer came.',
    ['route', 'status'],
  )
  const help = 'From the start of a request to its answer.'
  const shape = { name: 'shelfd_request_duration_seconds', help, labelNames: ['route'] as const }
  const durations = makeHistogram(registry, shape, REQUEST_BUCKETS)
  return ({ route, status, durationMs }) => {
    requests.inc({ route, status: statusLabel(status) })
    durations.observe({ route }, durationMs / 1_000)
  }
}

/** Keeps the number of labels small for any answer of a service. */
function statusLabel(status: number | undefined): string {
  if (status === undefined) return 'none'
  return NAMED_STATUSES.has(status) ? String(status) : `${Math.floor(status / 100)}xx`
}
