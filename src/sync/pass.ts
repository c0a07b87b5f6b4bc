import { z } from 'zod'
import { boundedNumber } from '../foundation/text/bounds.ts'
import { LIMIT_BOUNDS } from '../rules/limits.ts'
import type { SyncSummary } from '../rules/sync-summary.ts'
import type { MirrorRow } from '../store/tables/mirrors.ts'
import type { Follower } from './ingestion/ingestion-capacity.ts'

export const passOptions = z.object({
  /** How long to wait for ingestion after the last upload; 0: no wait. */
  waitMs: boundedNumber(LIMIT_BOUNDS.durationMs),
  hashEverything: z.boolean(),
  isDryRun: z.boolean(),
  /** Any number of files may be gone (P12). */
  acceptsRemovals: z.boolean(),
  /** The mirror may take over a directory that the library already holds (P14). */
  adopts: z.boolean(),
  /** Pins the mirror to the directory that is at its path now (P15, roots). */
  acceptsRoot: z.boolean(),
  /** A directory that holds the home or the system may become a mirror. */
  acceptsBreadth: z.boolean(),
  /** Files that changed more recently are left to a later run; null: none. */
  minAgeMs: boundedNumber(LIMIT_BOUNDS.durationMs).nullable().default(null),
})

export type PassOptions = Readonly<z.infer<typeof passOptions>>

/** Does nothing that needs a confirmation, and nothing that is not due. */
export const CAREFUL_PASS = {
  hashEverything: false,
  isDryRun: false,
  acceptsRemovals: false,
  adopts: false,
  acceptsRoot: false,
  acceptsBreadth: false,
  minAgeMs: null,
} as const satisfies Omit<PassOptions, 'waitMs'>

/** Which uploads count as one run: those with a run's id, or those of a daemon's mirror since a time (monotonic). */
export type QuotaScope =
  | { readonly kind: 'run'; readonly runId: number; readonly afterUploadId: number }
  | {
      readonly kind: 'span'
      readonly sinceMs: number
      /** A limit leaves room again after this time; absent: the next batch continues. */
      readonly freesAfterMs?: number
    }

/** What one run has finished trying, over all its mirrors. */
export interface RunAttempts {
  /** Contents that were quarantined or refused in this run. */
  readonly exhausted: Set<number>
  /** Directories that are gone from the service and are to be created again; by identifier. */
  readonly goneDirectories: Set<number>
  /** Directories that were created again; a run does so once for each. */
  readonly recreatedDirectories: Set<number>
}

export function newAttempts(): RunAttempts {
  return { exhausted: new Set(), goneDirectories: new Set(), recreatedDirectories: new Set() }
}

export interface Pass {
  readonly runId: number
  readonly quotaScope: QuotaScope
  readonly attempts: RunAttempts
  /** Mirrors that the run has sent to, whose resources may still be in ingestion. */
  readonly followed: MirrorRow[]
  /** Filled during the pass, so that it is also valid for a pass that was cut short. */
  readonly summary: SyncSummary
  readonly options: PassOptions
}

export interface UploadOptions {
  readonly summary: SyncSummary
  readonly follower: Follower
  /** How long to wait until ingestion has capacity. */
  readonly waitMs: number
  /** How long to wait for what other hosts of a fleet send; `waitMs` if absent. */
  readonly waitForOthersMs?: number
  readonly quotaScope: QuotaScope
  readonly attempts: RunAttempts
  readonly rechecksDirectories?: boolean
  readonly onUnread?: (path: string) => void
  readonly isHeld?: () => boolean
  /** Called when there is nothing to upload for the moment; only while the stage is open. */
  readonly onIdle?: () => void
}
