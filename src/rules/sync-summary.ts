import { z } from 'zod'
import { type HeldBack, heldBackShape } from './limits.ts'

const count = z.number().default(0)

const summaryProblem = z.object({
  path: z.string(),
  code: z.string(),
  message: z.string(),
  retryAt: z.string().nullable(),
})

/** `sync --json` prints this for each mirror. */
const syncSummary = z.object({
  name: z.string(),
  path: z.string(),
  /** `id` is null if the library does not exist yet, in a dry run. */
  library: z.object({ id: z.string().nullable(), name: z.string() }),
  remotePath: z.string(),
  files: z
    .object({
      scanned: count,
      unchanged: count,
      hashed: count,
      new: count,
      changed: count,
      moved: count,
      removed: count,
      /** Files on disk that a rule now leaves out. */
      leftOut: count,
      ignored: count,
      /** Ignored files that look like secrets. */
      secrets: count,
      /** Changed more recently than `--min-age` allows. */
      tooNew: count,
      /** Pipes, sockets and devices. */
      unsupported: count,
    })
    .prefault({}),
  uploads: z
    .object({
      created: count,
      duplicates: count,
      aliases: count,
      failed: count,
      heldBack: count,
      /** Contents held back, by limit. */
      heldBackBy: z.array(heldBackShape).readonly().prefault([]),
      inDoubt: count,
      /** Changed or vanished between scan and upload. */
      waiting: count,
      bytes: count,
    })
    .prefault({}),
  directories: z.object({ created: count, existing: count, failed: count }).prefault({}),
  ingestion: z
    .object({
      searchable: count,
      warnings: count,
      /** One of the service's warnings about searchable text; null without any. */
      warning: z.string().nullable().default(null),
      partial: count,
      failed: count,
      pending: count,
      unknown: count,
      /** Resources without searchable text, which `searchable` does not count. */
      withoutText: count,
      withoutTextKinds: z.record(z.string(), z.number()).prefault({}),
      /** Files beyond the first of each of these resources. */
      copies: z.object({ searchable: count, pending: count }).prefault({}),
    })
    .prefault({}),
  timeToSearchableMs: z.object({ p50: z.number(), p95: z.number() }).nullable().default(null),
  problems: z.array(summaryProblem).prefault([]),
})

/** How a run ended, in one word. */
const verdict = z.enum(['ok', 'incomplete', 'failed'])

export type Verdict = z.infer<typeof verdict>

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

/** Returns a summary in which all counts are 0. */
export function emptySummary(mirror: Pick<SyncSummary, 'name' | 'path' | 'library' | 'remotePath'>): SyncSummary {
  const { name, path, library, remotePath } = mirror
  return syncSummary.parse({ name, path, library, remotePath })
}

/** Returns the index, among `count` sorted values, below which `share` (0 to 1) of them lie; -1 without values. */
export function percentileIndex(count: number, share: number): number {
  return Math.min(count - 1, Math.floor(count * share))
}

export function recordHeldBack({ uploads }: SyncSummary, heldBackBy: readonly HeldBack[]): void {
  uploads.heldBackBy = heldBackBy
  uploads.heldBack = heldBackBy.reduce((sum, { contents }) => sum + contents, 0)
}
