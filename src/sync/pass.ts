import { z } from 'zod'
import type { SyncSummary } from '../rules/sync-summary.ts'
import type { QuotaScope } from './upload/run-quota.ts'

export const passOptions = z.object({
  /** How long to wait for ingestion after the last upload; 0: not at all. */
  waitMs: z.number().nonnegative(),
  hashEverything: z.boolean(),
  isDryRun: z.boolean(),
  /** Files may be gone in any number (P12). */
  acceptsRemovals: z.boolean(),
  /** A library that holds the mirror's directory already may be taken over (P14). */
  adopts: z.boolean(),
  /** The directory that stands there now is the mirror's from now on, whatever it was pinned to (P15). */
  acceptsRoot: z.boolean(),
  /** A directory that holds the home or the system may become a mirror. */
  acceptsBreadth: z.boolean(),
})

export type PassOptions = Readonly<z.infer<typeof passOptions>>

/** What one run, however many mirrors it has and however long it lasts, has tried to its end and leaves to a later one. */
export interface RunAttempts {
  /** Contents that were quarantined or refused in this run. */
  readonly exhausted: Set<number>
  /** Copies that were sent, or are on their way, so that their resource gains a location; by directory and name. */
  readonly links: Set<string>
  /** Directories that were found gone from the service and are to be made again; by identifier. */
  readonly goneDirectories: Set<number>
  /** Those that were made again, which happens once to each. */
  readonly recreatedDirectories: Set<number>
}

export function newAttempts(): RunAttempts {
  return { exhausted: new Set(), links: new Set(), goneDirectories: new Set(), recreatedDirectories: new Set() }
}

export interface Pass {
  readonly runId: number
  readonly quotaScope: QuotaScope
  readonly attempts: RunAttempts
  /** Filled as the pass goes on, so that it tells the truth also when the pass is cut short. */
  readonly summary: SyncSummary
  readonly options: PassOptions
}
