import { z } from 'zod'
import type { UploadOutcome } from '../store/tables/uploads.ts'

/** Logged for an upload that stays in doubt. The summary of the run lists the upload as well. */
export const FAILED_AGAIN = 'an upload failed again'

/** A file that a dry run would upload; `path` is relative to the mirror's root. */
const dryRunFile = z.object({ mirror: z.string(), path: z.string(), sizeBytes: z.number() })

/** An uploaded file, and the resource that the service created for it or already had. */
export const sentFile = dryRunFile.extend({ resourceId: z.string(), isDuplicate: z.boolean() })

export type DryRunFile = Readonly<z.infer<typeof dryRunFile>>
export type SentFile = Readonly<z.infer<typeof sentFile>>

export interface FileLog {
  wouldSend(file: DryRunFile): void
  sent(file: SentFile): void
}

export const silentFileLog: FileLog = { wouldSend() {}, sent() {} }

export interface MetricsSink {
  uploadEnded(outcome: UploadOutcome, sizeBytes: number): void
  /** A resource became searchable `durationMs` after its upload. */
  searchableAfter(durationMs: number): void
  watcherMissed(files: number): void
}

export const noMetrics: MetricsSink = { uploadEnded() {}, searchableAfter() {}, watcherMissed() {} }
