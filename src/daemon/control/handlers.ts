import type { FileLog } from '../../sync/file-log.ts'
import type { Progress } from '../../sync/progress.ts'
import type { RunResult } from '../../sync/run/run-sync.ts'
import type { DaemonStatus } from '../daemon-status.ts'
import type { LibraryAccess, Reloaded } from './answers.ts'
import type { SyncRequest } from './requests.ts'

/** What a `sync` by hand is given by the connection it came over. */
export interface SyncRun {
  /** Aborted when the client asks to stop, or is gone; its reason says which, as the reason of a run's own signal does. */
  readonly signal: AbortSignal
  /** Written by the run, read now and then by the server, which tells the client. */
  readonly progress: Progress
  /** Tells the client of each file that was sent. */
  readonly fileLog: FileLog
}

/**
 * What the daemon does for its clients, a method a request. Whatever it throws goes to the client, which throws the same
 * class again. Requests may overlap: whoever implements this puts them in order.
 */
export interface ControlHandlers {
  status(): Promise<DaemonStatus>
  /** One run over these mirrors beside the daemon's own; a run that was aborted ends with a result, too. */
  sync(request: SyncRequest, run: SyncRun): Promise<RunResult>
  /** Holds back the uploads of these mirrors; of all when none is named. Resolves when it is kept. */
  pause(names: readonly string[]): Promise<void>
  resume(names: readonly string[]): Promise<void>
  /** Makes these contents due now and wakes the uploads. Returns their number. */
  retry(contentIds: readonly number[]): Promise<number>
  /** Sets these contents aside: they no longer need attention. Gives how many were. */
  ignore(contentIds: readonly number[]): Promise<number>
  /** Forgets a mirror and keeps it no longer; gives the file with a copy of the store from before. */
  forget(name: string): Promise<string>
  /** The embedded library the daemon runs; null when a service is configured. */
  library(): Promise<LibraryAccess | null>
  /** Reads the configuration again. */
  reload(): Promise<Reloaded>
}
