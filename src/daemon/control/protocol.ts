/** The requests of commands to the daemon and its responses, except its status. */
import { z } from 'zod'
import { fault } from '../../foundation/http/fault.ts'
import { runSummary } from '../../rules/sync-summary.ts'
import { runOutcomes } from '../../rules/verdict.ts'
import type { DaemonStatus } from '../../sync/continuous/controller-status.ts'
import { engineLimits, mirrorSettings } from '../../sync/engine.ts'
import { passOptions } from '../../sync/pass.ts'
import { type Progress, progressShape } from '../../sync/progress.ts'
import type { Failures } from '../../sync/quarantine.ts'
import type { RunResult } from '../../sync/run/run-sync.ts'
import { type FileLog, sentFile } from '../../sync/sinks.ts'

/** The service in the client's configuration: its origin, or the data directory of the embedded library. */
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
/** An empty list means all mirrors. */
export const mirrorNames = z.object({ names: z.array(z.string()).readonly().default([]) })
export const mirrorName = z.object({ name: z.string() })
export const failures = z.object({
  contentIds: z.array(z.int()).readonly().default([]),
  paths: z
    .array(z.object({ mirror: z.string(), path: z.string() }))
    .readonly()
    .default([]),
})
/** `reason` is the error that the sync ends with. */
export const stopRequest = z.object({ sync: z.string(), reason: fault.optional() })

export type SyncRequest = Readonly<z.infer<typeof syncRequest>>

/** The number of contents and paths that were retried or ignored. */
export const failureCount = z.int().nonnegative()

export const reloaded = z.object({ mirrors: z.array(z.string()).readonly() })

export type Reloaded = Readonly<z.infer<typeof reloaded>>

const runResponse = z.object({ summary: runSummary, outcome: z.enum(runOutcomes), failure: fault.nullable() })

/** A line of the answer to a sync: first `started`, then any number of `progress` and `sent`, then `result` or `error`. */
export const syncLine = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('started'), sync: z.string() }),
  z.object({ kind: z.literal('progress'), progress: progressShape }),
  z.object({ kind: z.literal('sent'), file: sentFile }),
  z.object({ kind: z.literal('result'), result: runResponse }),
  z.object({ kind: z.literal('error'), error: fault }),
])

export type RunResponse = z.infer<typeof runResponse>
export type SyncLine = z.infer<typeof syncLine>

/** The parts that the server passes to a sync of a client. */
export interface SyncRun {
  /** Aborted when the client asks to stop or disconnects; the reason is the error that the run ends with. */
  readonly signal: AbortSignal
  /** The run writes it; the server reads it at intervals and sends it to the client. */
  readonly progress: Progress
  /** Reports each sent file to the client. */
  readonly fileLog: FileLog
}

/**
 * The daemon's actions for clients, one method per request. The client rethrows an error of a method in its class. Requests
 * may overlap: the implementation must serialize them where needed.
 */
export interface ControlHandlers {
  status(): Promise<DaemonStatus>
  /**
   * Does one run over these mirrors beside the daemon's own work; an aborted run returns a result, too, but one that had not begun throws
   * the reason.
   */
  sync(request: SyncRequest, run: SyncRun): Promise<RunResult>
  /** Holds back the uploads of these mirrors, of all when none is named. Resolves when the pause is stored. */
  pause(names: readonly string[]): Promise<void>
  resume(names: readonly string[]): Promise<void>
  /** Makes these contents due now, ends the setting aside of these paths, and wakes the uploads. Returns their number. */
  retry(failures: Failures): Promise<number>
  /** Sets these aside, so that they need no attention any more. Returns how many were not set aside before. */
  ignore(failures: Failures): Promise<number>
  /** Forgets a mirror; returns the file with a copy of the store from before. */
  forget(name: string): Promise<string>
  /** Returns an address of the dashboard that signs in one browser, once. */
  dashboard(): Promise<string>
  /** Reads the configuration again. */
  reload(): Promise<Reloaded>
}
