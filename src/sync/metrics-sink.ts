import type { UploadOutcome } from '../store/tables/uploads.ts'

/** Receives what metrics count. */
export interface MetricsSink {
  uploadEnded(outcome: UploadOutcome, sizeBytes: number): void
  /** A resource became searchable `durationMs` after its upload. */
  searchableAfter(durationMs: number): void
  /** A scan found changed files that the watcher had not reported. */
  watcherMissed(files: number): void
}

export const noMetrics: MetricsSink = { uploadEnded() {}, searchableAfter() {}, watcherMissed() {} }
