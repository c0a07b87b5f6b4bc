import type { UploadOutcome } from '../store/uploads.ts'

/** Is told what happens, for metrics. */
export interface MetricsSink {
  uploadEnded(outcome: UploadOutcome, sizeBytes: number): void
  /** A resource became searchable so long after its upload. */
  searchableAfter(durationMs: number): void
  /** A scan found changes that no watcher had announced. */
  watcherMissed(files: number): void
}

export const noMetrics: MetricsSink = { uploadEnded() {}, searchableAfter() {}, watcherMissed() {} }
