import type { SyncSummary } from '../../rules/run/sync-summary.ts'
import type { IngestionCapacity } from '../ingestion/ingestion-capacity.ts'
import type { RunAttempts } from '../pass.ts'
import type { QuotaScope } from './run-quota.ts'

/** What a pass over one mirror gives its upload stage. */
export interface UploadOptions {
  readonly summary: SyncSummary
  readonly follower: IngestionCapacity
  /** How long to wait for room in ingestion. */
  readonly waitMs: number
  /** Which uploads count for the limits of a run. */
  readonly quotaScope: QuotaScope
  readonly attempts: RunAttempts
  /** First check that the directories that were made still exist. */
  readonly rechecksDirectories?: boolean
  /** Called when there is nothing to upload for the moment; only while the stage is open. */
  readonly onIdle?: () => void
}
