/** The answers of the daemon as they arrive, each held to the type it has in the program. */
import { z } from 'zod'
import { errorCodes } from '../../foundation/errors.ts'
import type { Outage } from '../../remote/policies/outage.ts'
import type { SyncSummary } from '../../rules/sync-summary.ts'
import type { ServiceStatus } from '../../sync/continuous/service-connection.ts'
import type { Progress } from '../../sync/progress.ts'
import type { RunSummary } from '../../sync/run/run-sync.ts'
import { fault } from '../http/fault.ts'
import type { DaemonStanding, MirrorStanding } from '../standing.ts'

const count = z.number()
const time = z.number().nullable()
const code = z.enum(errorCodes)

const serviceStanding = z.object({
  state: z.enum(['unasked', 'connected', 'away', 'refused']),
  sinceMs: z.number(),
  reason: z.object({ code, message: z.string() }).nullable(),
}) satisfies z.ZodType<ServiceStatus>

const mirrorStanding = z.object({
  name: z.string(),
  path: z.string(),
  state: z.enum(['starting', 'scanning', 'idle', 'sending', 'waiting', 'held', 'halted']),
  reason: z
    .object({ code: z.union([code, z.enum(['paused', 'maintenance', 'scheduled'])]), message: z.string() })
    .nullable(),
  watcher: z.enum(['node', 'parcel', 'chokidar', 'poll']).nullable(),
  isWatchLimited: z.boolean(),
  settling: count,
  missedByWatcher: count,
  lastScanAt: time,
  lastSuccessAt: time,
  nextRunAt: time,
}) satisfies z.ZodType<MirrorStanding>

/** Answer to `status`. */
export const daemonStanding = z.object({
  pid: z.int(),
  startedAt: z.number(),
  service: serviceStanding,
  isStoreFull: z.boolean(),
  uploading: count,
  inIngestion: count,
  mirrors: z.array(mirrorStanding).readonly(),
}) satisfies z.ZodType<DaemonStanding>

const outage = z.object({
  origin: z.string(),
  code: z.enum([
    'service-unreachable',
    'service-unavailable',
    'service-error',
    'service-throttling',
    'answer-malformed',
    'answer-late',
  ]),
  cause: z.string(),
  sinceMs: z.number(),
  nextTryAtMs: time,
  untilMs: time,
  askedUntilMs: time,
}) satisfies z.ZodType<Outage>

/** What a `progress` line holds. */
export const progressShape = z.object({
  mirror: z.string(),
  phase: z.enum(['starting', 'scanning', 'directories', 'uploading', 'ingestion', 'finished']),
  filesScanned: count,
  filesHashed: count,
  bytesHashed: count,
  directoriesDone: count,
  directoriesTotal: count,
  contentsSent: count,
  contentsTotal: count,
  bytesSent: count,
  bytesTotal: count,
  uploads: z.array(z.object({ path: z.string(), sizeBytes: count, bytesSent: count })),
  inIngestion: count,
  searchable: count,
  // An older daemon doesn't say.
  outage: outage.nullable().default(null),
}) satisfies z.ZodType<Progress>

const syncSummary = z.object({
  name: z.string(),
  path: z.string(),
  library: z.object({ id: z.string().nullable(), name: z.string() }),
  remotePath: z.string(),
  files: z.object({
    scanned: count,
    unchanged: count,
    hashed: count,
    new: count,
    changed: count,
    moved: count,
    removed: count,
    leftOut: count,
    ignored: count,
    secrets: count,
    unsupported: count,
  }),
  uploads: z.object({
    created: count,
    duplicates: count,
    aliases: count,
    failed: count,
    heldBack: count,
    heldBackBy: z
      .array(
        z.object({
          limit: z.enum(['newPerRun', 'newPerDay', 'newBytesPerRun', 'inIngestion']),
          value: count,
          contents: count,
          freesAt: z.string().nullable(),
        }),
      )
      .readonly(),
    inDoubt: count,
    bytes: count,
  }),
  directories: z.object({ created: count, existing: count, failed: count }),
  ingestion: z.object({
    searchable: count,
    warnings: count,
    partial: count,
    failed: count,
    pending: count,
    unknown: count,
    withoutText: count,
    withoutTextKinds: z.record(z.string(), count),
  }),
  timeToSearchableMs: z.object({ p50: count, p95: count }).nullable(),
  problems: z.array(
    z.object({ path: z.string(), code: z.string(), message: z.string(), retryAt: z.string().nullable() }),
  ),
}) satisfies z.ZodType<SyncSummary>

const runSummary = z.object({
  run: z.int(),
  dryRun: z.literal(true).exactOptional(),
  verdict: z.enum(['ok', 'incomplete', 'failed']),
  startedAt: z.string(),
  finishedAt: z.string(),
  durationMs: z.number(),
  mirrors: z.array(syncSummary).readonly(),
}) satisfies z.ZodType<RunSummary>

/** Answer to `sync`. */
export const runAnswer = z.object({
  summary: runSummary,
  outcome: z.enum(['done', 'failures', 'temporary', 'pending', 'held-back', 'interrupted']),
  failure: fault.nullable(),
})

export type RunAnswer = z.infer<typeof runAnswer>

/** Answer to `retry` and `ignore`: how many contents. */
export const contentCount = z.int().nonnegative()
