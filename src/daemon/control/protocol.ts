/** Requests of commands to the daemon, and its responses. */
import { z } from 'zod'
import { fault } from '../../foundation/http/fault.ts'
import { runOutcomes } from '../../rules/run-outcome.ts'
import { runSummary } from '../../rules/sync-summary.ts'
import type { DaemonStatus } from '../../sync/continuous/controller-status.ts'
import { engineLimits, mirrorSettings } from '../../sync/engine.ts'
import type { Failures } from '../../sync/operator/quarantine.ts'
import type { Removal } from '../../sync/operator/tidy-library.ts'
import { passOptions } from '../../sync/pass.ts'
import { type Progress, progressShape } from '../../sync/progress.ts'
import type { RunResult } from '../../sync/run/run-sync.ts'
import { type FileLog, sentFile } from '../../sync/sinks.ts'

/** An origin, or the data directory of the embedded library. */
const service = z.string()

export const syncRequest = z.object({
  /** An identifier that the client chooses, to follow and stop the sync by it. */
  sync: z.string(),
  service,
  mirrors: z.array(mirrorSettings).readonly(),
  limits: engineLimits,
  // A dry run ends with a rollback, which would also undo what the daemon writes to its store meanwhile.
  options: passOptions.extend({ isDryRun: z.literal(false) }),
})

export const nothing = z.object({})
export const mirrorNames = z.object({ names: z.array(z.string()).readonly().default([]) })
export const mirrorName = z.object({ name: z.string() })
export const failures = z.object({
  contentIds: z.array(z.int()).readonly().default([]),
  paths: z
    .array(z.object({ mirror: z.string(), path: z.string() }))
    .readonly()
    .default([]),
})
export const removal = z.object({
  resources: z.array(z.object({ contentId: z.int(), resourceId: z.string() })).readonly(),
  as: z.enum(['unused', 'withheld', 'gone']),
})
export const recordedContents = z.array(z.int())
/** `stop` ends the sync with this error. */
export const followRequest = z.object({ sync: z.string(), stop: fault.optional() })

export type SyncRequest = Readonly<z.infer<typeof syncRequest>>

/** How many contents and paths were retried or ignored. */
export const failureCount = z.int().nonnegative()

export const reloaded = z.object({ mirrors: z.array(z.string()).readonly() })

export type Reloaded = Readonly<z.infer<typeof reloaded>>

const sent = z.array(sentFile)

export const runResponse = z.object({
  summary: runSummary,
  outcome: z.enum(runOutcomes),
  failure: fault.nullable(),
  sent,
})

/** `sent`: the files that were sent since the previous answer. Undefined before the sync begins, and after its end. */
export const syncState = z.object({ progress: progressShape, sent }).optional()

export interface SyncRun {
  /** Aborted when the client asks to stop or disconnects; the reason is the error that ends the run. */
  readonly signal: AbortSignal
  readonly progress: Progress
  readonly fileLog: FileLog
}

/** Requests may overlap: the implementation serializes them where needed. */
export interface ControlHandlers {
  status(): Promise<DaemonStatus>
  /** Runs beside the daemon's own work. An aborted run returns a result; one that had not begun throws the reason. */
  sync(request: SyncRequest, run: SyncRun): Promise<RunResult>
  /** No names: all mirrors. Resolves when the pause is stored. */
  pause(names: readonly string[]): Promise<void>
  resume(names: readonly string[]): Promise<void>
  /** Makes contents due, no longer sets paths aside, and wakes the uploads. Returns the number of contents and paths. */
  retry(failures: Failures): Promise<number>
  /** Sets contents and paths aside; returns how many were not set aside before. */
  ignore(failures: Failures): Promise<number>
  /** Returns the ids of the contents for which it recorded something. */
  recordRemoval(removal: Removal): Promise<number[]>
  /** Forgets a mirror; returns the path of a copy of the store as it was before. */
  forget(name: string): Promise<string>
  /** Returns an address that signs in one browser, once. */
  dashboard(): Promise<string>
  reload(): Promise<Reloaded>
}
