import type { Clock } from '../../foundation/clock.ts'
import type { Logger } from '../../foundation/logger.ts'
import { groupDigits } from '../../foundation/text/safe-text.ts'

/** `node`: one watch for each directory. `chokidar`: watches the whole tree. */
export type WatchBackEnd = 'node' | 'chokidar'

/** A hint may come twice, late or without a change, so the receiver checks the path. */
export interface WatchEvents {
  /** Relative to the root, '' for the root itself. */
  onHint(path: string): void
  /** The receiver scans everything. `reason` is for the log. */
  onLost(reason: string): void
  /** Called once, when the system allows no more watches. */
  onLimit(message: string): void
}

export interface TreeWatcherOptions {
  readonly root: string
  readonly backEnd: WatchBackEnd
  /** Null: `chokidar` relies on the kernel. */
  readonly pollIntervalMs: number | null
  readonly events: WatchEvents
  readonly clock: Clock
  readonly logger: Logger
}

/** Reports nothing after its disposal. */
export interface TreeWatcher extends AsyncDisposable {
  /** How long after a change its hint may come, without the kernel's delay. */
  readonly delayMs: number
  /**
   * Returns the directories that were not watched before: scan them again. Always [] for `chokidar`; directories beyond the system's
   * limit are left out.
   */
  add(directories: readonly string[]): readonly string[]
  /** At the end of a complete scan, whose directories these are. */
  keepOnly(directories: ReadonlySet<string>): void
  /** The system allowed fewer watches than there are directories. */
  readonly isLimited: boolean
  /** The tree has outgrown this watcher: scans replace it. */
  readonly hasStopped: boolean
}

/** Scans cost less than a watcher in memory. */
export class TooManyEntriesError extends Error {
  constructor(maxEntries: number) {
    super(`it has more than ${groupDigits(maxEntries)} files and directories, too many to poll one by one`)
  }
}
