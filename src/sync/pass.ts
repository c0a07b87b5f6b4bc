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
  /** Whether missing files are removed however many they are (P12). */
  acceptsRemovals: z.boolean(),
  /** Whether the mirror may use a remote directory that already exists in the library (P14). */
  adopts: z.boolean(),
  /** Whether the mirror is pinned to the directory that is at its path now (P15, roots). */
  acceptsRoot: z.boolean(),
  /** Whether a home or system directory may become a mirror. */
  acceptsBreadth: z.boolean(),
  /** Files that changed within this time are left to a later run; null: no files are. */
  minAgeMs: boundedNumber(LIMIT_BOUNDS.durationMs).nullable().default(null),
})

export type PassOptions = Readonly<z.infer<typeof passOptions>>

/** The options of a pass that needs no confirmation and hashes only what is due. */
export const CAREFUL_PASS = {
  hashEverything: false,
  isDryRun: false,
  acceptsRemovals: false,
  adopts: false,
  acceptsRoot: false,
  acceptsBreadth: false,
  minAgeMs: null,
} as const satisfies Omit<PassOptions, 'waitMs'>

/** Which uploads count for the limits of a run: those of one run, or in a daemon those of one mirror since `sinceMs` (monotonic). */
export type QuotaScope =
  | { readonly kind: 'run'; readonly runId: number; readonly afterUploadId: number }
  | {
      readonly kind: 'span'
      readonly sinceMs: number
      /** How long until a limit that is reached has room again; absent in a batch, where only the next batch continues. */
      readonly freesAfterMs?: number
    }

/** What the uploads of one run have found out so far, over all its mirrors. */
export interface RunAttempts {
  /** Ids of contents that were quarantined or refused in this run, which does not try them again. */
  readonly exhausted: Set<number>
  /** Ids of directories that are missing in the library and are to be created again. */
  readonly goneDirectories: Set<number>
  /** Ids of directories that were created again, which a run does once for each. */
  readonly recreatedDirectories: Set<number>
}

export function newAttempts(): RunAttempts {
  return { exhausted: new Set(), goneDirectories: new Set(), recreatedDirectories: new Set() }
}

export interface Pass {
  readonly runId: number
  readonly quotaScope: QuotaScope
  readonly attempts: RunAttempts
  /** Mirrors that the run has already processed; their resources may still be in ingestion. */
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
  /** How long to wait for uploads of other hosts that share the ledger; `waitMs` if absent. */
  readonly waitForOthersMs?: number
  readonly quotaScope: QuotaScope
  readonly attempts: RunAttempts
  readonly rechecksDirectories?: boolean
  /** Called with a file that changed or vanished before its upload. */
  readonly onUnread?: (path: string) => void
  readonly isHeld?: () => boolean
  /** Called when there is nothing to upload for the moment; only while the stage is open. */
  readonly onIdle?: () => void
}
