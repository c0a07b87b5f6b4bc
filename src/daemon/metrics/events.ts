import type { RequestObservation } from '../../remote/client-options.ts'
import type { UploadOutcome } from '../../store/tables/uploads.ts'
import type { MetricsSink } from '../../sync/sinks.ts'
import type { MetricSet } from './metric-set.ts'

const OUTCOMES: Readonly<Record<UploadOutcome, true>> = {
  created: true,
  duplicate: true,
  adopted: true,
  absent: true,
  refused: true,
  doubt: true,
  'not-sent': true,
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

/** HTTP statuses that the interface defines; every other one is counted under its class. */
const NAMED_STATUSES = new Set([200, 201, 202, 204, 400, 401, 403, 404, 409, 413, 422, 429, 500, 502, 503, 504])

/** Counts what happens. */
export interface EventCounters extends MetricsSink {
  observeRequest(observation: RequestObservation): void
}

export function registerEvents(metrics: MetricSet): EventCounters {
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
  for (const outcome of Object.keys(OUTCOMES)) for (const counter of [uploads, bytes]) counter.inc({ outcome }, 0)
  return {
    uploadEnded: (outcome, sizeBytes) => {
      uploads.inc({ outcome })
      bytes.inc({ outcome }, sizeBytes)
    },
    searchableAfter: (durationMs) => searchable.observe(durationMs / 1_000),
  }
}

/** Keeps the number of labels small for any answer of a service. */
function statusLabel(status: number | undefined): string {
  if (status === undefined) return 'none'
  return NAMED_STATUSES.has(status) ? String(status) : `${Math.floor(status / 100)}xx`
}
