import type { HeldBack } from './quota.ts'
import type { KindCounts } from './without-text.ts'

/** A problem of one path, as summaries show it; `retryAt` in ISO 8601 or null. */
export interface SummaryProblem {
  readonly path: string
  readonly code: string
  readonly message: string
  readonly retryAt: string | null
}

/** The account of one pass over one mirror: the shape that `sync --json` prints for each mirror. */
export interface SyncSummary {
  readonly name: string
  readonly path: string
  /** `id` is null while the library does not exist (a dry run before the first run). */
  library: { readonly id: string | null; readonly name: string }
  readonly remotePath: string
  readonly files: {
    scanned: number
    unchanged: number
    hashed: number
    new: number
    changed: number
    moved: number
    removed: number
    /** Those of `removed` that are still on disk, where a rule leaves them out now. */
    leftOut: number
    ignored: number
    /** Those of `ignored` that look like secrets. */
    secrets: number
    unsupported: number
  }
  readonly uploads: {
    created: number
    duplicates: number
    aliases: number
    failed: number
    heldBack: number
    /** The same by the limit that held them back. */
    heldBackBy: readonly HeldBack[]
    inDoubt: number
    bytes: number
  }
  readonly directories: { created: number; existing: number; failed: number }
  readonly ingestion: {
    searchable: number
    warnings: number
    partial: number
    failed: number
    pending: number
    unknown: number
    /** Those of `warnings` that are stored without searchable text, and the same by kind. */
    withoutText: number
    withoutTextKinds: KindCounts
  }
  timeToSearchableMs: { readonly p50: number; readonly p95: number } | null
  problems: SummaryProblem[]
}

/** An account with nothing in it yet. */
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
    uploads: { created: 0, duplicates: 0, aliases: 0, failed: 0, heldBack: 0, heldBackBy: [], inDoubt: 0, bytes: 0 },
    directories: { created: 0, existing: 0, failed: 0 },
    ingestion: {
      searchable: 0,
      warnings: 0,
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

/** The value below which `share` (0 to 1) of ascending `values` lie; undefined for none. */
export function percentile(values: readonly number[], share: number): number | undefined {
  return values[Math.min(values.length - 1, Math.floor(values.length * share))]
}
