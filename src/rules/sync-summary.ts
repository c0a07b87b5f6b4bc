import { z } from 'zod'
import { heldBackShape } from './limits.ts'

const count = z.number()

/** A problem of one path, as summaries show it; `retryAt` in ISO 8601 or null. */
const summaryProblem = z.object({
  path: z.string(),
  code: z.string(),
  message: z.string(),
  retryAt: z.string().nullable(),
})

/** The summary of one pass over one mirror: the shape that `sync --json` prints for each mirror. */
const syncSummary = z.object({
  name: z.string(),
  path: z.string(),
  /** `id` is null while the library does not exist (a dry run before the first run). */
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
    /** Those of `removed` that are still on disk, where a rule leaves them out now. */
    leftOut: count,
    ignored: count,
    /** Those of `ignored` that look like secrets. */
    secrets: count,
    /** Pipes, sockets and devices. */
    unsupported: count,
  }),
  uploads: z.object({
    created: count,
    duplicates: count,
    aliases: count,
    failed: count,
    heldBack: count,
    /** Contents held back, by limit. */
    heldBackBy: z.array(heldBackShape).readonly(),
    inDoubt: count,
    /** Files that changed or vanished between their scan and the end of their upload, and are not at the service. */
    waiting: count.default(0),
    bytes: count,
  }),
  directories: z.object({ created: count, existing: count, failed: count }),
  ingestion: z.object({
    searchable: count,
    warnings: count,
    /** One of the service's warnings about searchable text; null without any. */
    warning: z.string().nullable().default(null),
    partial: count,
    failed: count,
    pending: count,
    unknown: count,
    /** Stored without searchable text, also by kind; none of them is `searchable`. */
    withoutText: count,
    withoutTextKinds: z.record(z.string(), count),
  }),
  timeToSearchableMs: z.object({ p50: count, p95: count }).nullable(),
  problems: z.array(summaryProblem),
})

/** How a run ended, in one word. */
const verdict = z.enum(['ok', 'incomplete', 'failed'])

export type Verdict = z.infer<typeof verdict>

/** One run over some mirrors: the shape that `sync --json` prints. */
export const runSummary = z.object({
  run: z.int(),
  dryRun: z.literal(true).exactOptional(),
  verdict,
  startedAt: z.string(),
  finishedAt: z.string(),
  durationMs: z.number(),
  mirrors: z.array(syncSummary).readonly(),
})

export type SummaryProblem = Readonly<z.infer<typeof summaryProblem>>
export type SyncSummary = z.infer<typeof syncSummary>
export type RunSummary = Readonly<z.infer<typeof runSummary>>

/** A summary in which all counts are 0. */
export function emptySummary(mirror: Pick<SyncSummary, 'name' | 'path' | 'library' | 'remotePath'>): SyncSummary {
  return {
    ...mirror,
    files: {
      scanned: 0,
      unchanged: 0,
      hashed: 0,
      new: 0,
      changed: 0,
      moved: 0,
      removed: 0,
      leftOut: 0,
      ignored: 0,
      secrets: 0,
      unsupported: 0,
    },
    uploads: {
      created: 0,
      duplicates: 0,
      aliases: 0,
      failed: 0,
      heldBack: 0,
      heldBackBy: [],
      inDoubt: 0,
      waiting: 0,
      bytes: 0,
    },
    directories: { created: 0, existing: 0, failed: 0 },
    ingestion: {
      searchable: 0,
      warnings: 0,
      warning: null,
      partial: 0,
      failed: 0,
      pending: 0,
      unknown: 0,
      withoutText: 0,
      withoutTextKinds: {},
    },
    timeToSearchableMs: null,
    problems: [],
  }
}

/** The index, among `count` ascending values, of the one below which `share` (0 to 1) of them lie; -1 for none. */
export function percentileIndex(count: number, share: number): number {
  return Math.min(count - 1, Math.floor(count * share))
}
