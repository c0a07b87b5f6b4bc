import type { SyncSummary } from '../../rules/sync-summary.ts'
import type { Follower } from '../ingestion/ingestion-capacity.ts'
import type { RunAttempts } from '../pass.ts'
import type { QuotaScope } from './run-quota.ts'

/** What a pass over one mirror gives its upload stage. */
export interface UploadOptions {
  readonly summary: SyncSummary
  readonly follower: Follower
  /** How long to wait until ingestion has capacity. */
  readonly waitMs: number
  /** Which uploads count for the limits of a run. */
  readonly quotaScope: QuotaScope
  readonly attempts: RunAttempts
  /** Checks first that the directories created earlier still exist. */
  readonly rechecksDirectories?: boolean
  /** Called with the path of each file that is no longer what was hashed. */
  readonly onUnread?: (path: string) => void
  /** Called when there is nothing to upload for the moment; only while the stage is open. */
  readonly onIdle?: () => void
}
