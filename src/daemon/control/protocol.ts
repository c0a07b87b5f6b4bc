/** Requests of commands to the daemon, and its responses. */
import { z } from 'zod'
import { fault } from '../../foundation/http/fault.ts'
import { runSummary } from '../../rules/sync-summary.ts'
import { runOutcomes } from '../../rules/verdict.ts'
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
  service,
  mirrors: z.array(mirrorSettings).readonly(),
  limits: engineLimits,
  // A dry run ends with a rollback, which would also undo what the daemon writes to its store meanwhile.
  options: passOptions.extend({ isDryRun: z.literal(false) }),
  /** True if the daemon reports each sent file by name. */
  namesFiles: z.boolean(),
})

/** For routes without input. */
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
/** `reason`: the error that the sync ends with. */
export const stopRequest = z.object({ sync: z.string(), reason: fault.optional() })

export type SyncRequest = Readonly<z.infer<typeof syncRequest>>

/** Contents and paths that were retried or ignored, or contents whose resources were removed. */
export const failureCount = z.int().nonnegative()

export const reloaded = z.object({ mirrors: z.array(z.string()).readonly() })

export type Reloaded = Readonly<z.infer<typeof reloaded>>

const runResponse = z.object({ summary: runSummary, outcome: z.enum(runOutcomes), failure: fault.nullable() })

/** First `started`, then `progress` and `sent`, then `result` or `error`. */
export const syncLine = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('started'), sync: z.string() }),
  z.object({ kind: z.literal('progress'), progress: progressShape }),
  z.object({ kind: z.literal('sent'), file: sentFile }),
  z.object({ kind: z.literal('result'), result: runResponse }),
  z.object({ kind: z.literal('error'), error: fault }),
])

export type RunResponse = z.infer<typeof runResponse>
export type SyncLine = z.infer<typeof syncLine>

export interface SyncRun {
  /** Aborted when the client asks to stop or disconnects, with the error that the run ends with. */
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
  /** Makes contents due, ends the setting aside of paths, and wakes the uploads. Returns their number. */
  retry(failures: Failures): Promise<number>
  /** Returns how many were not set aside before. */
  ignore(failures: Failures): Promise<number>
  /** Returns the contents of which it recorded something. */
  recordRemoval(removal: Removal): Promise<number[]>
  /** Returns the copy of the store from before. */
  forget(name: string): Promise<string>
  /** The address signs in one browser, once. */
  dashboard(): Promise<string>
  reload(): Promise<Reloaded>
}
