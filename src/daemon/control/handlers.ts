import type { DaemonStatus } from '../../sync/continuous/controller-status.ts'
import type { Progress } from '../../sync/progress.ts'
import type { RunResult } from '../../sync/run/run-sync.ts'
import type { FileLog } from '../../sync/sinks.ts'
import type { SyncRequest } from './requests.ts'
import type { LibraryAccess, Reloaded } from './responses.ts'

/** What the server passes to a sync that a client has requested. */
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
  /** Does one run over these mirrors beside the daemon's own work; an aborted run returns a result, too. */
  sync(request: SyncRequest, run: SyncRun): Promise<RunResult>
  /** Holds back the uploads of these mirrors, of all when none is named. Resolves when the pause is stored. */
  pause(names: readonly string[]): Promise<void>
  resume(names: readonly string[]): Promise<void>
  /** Makes these contents due now and wakes the uploads. Returns their number. */
  retry(contentIds: readonly number[]): Promise<number>
  /** Sets these contents aside, so that they need no attention any more. Returns how many were not set aside before. */
  ignore(contentIds: readonly number[]): Promise<number>
  /** Forgets a mirror; returns the file with a copy of the store from before. */
  forget(name: string): Promise<string>
  /** The embedded library the daemon runs; null when a service is configured. */
  library(): Promise<LibraryAccess | null>
  /** Returns an address of the dashboard that signs in one browser, once. */
  dashboard(): Promise<string>
  /** Reads the configuration again. */
  reload(): Promise<Reloaded>
}
