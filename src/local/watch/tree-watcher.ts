import type { Clock } from '../../foundation/clock.ts'
import type { Logger } from '../../foundation/logger.ts'
import { groupDigits } from '../../foundation/text/safe-text.ts'

/** `node`: this program sets one watch for each directory. `chokidar`: a package that watches the whole tree. */
export type WatchBackEnd = 'node' | 'chokidar'

/** Receives the reports of a watcher. A hint proves nothing, and may come twice, late or without a change: the receiver checks the path. */
export interface WatchEvents {
  /** `path` may have changed; it is relative to the root, with `/` between names, and '' for the root itself. */
  onHint(path: string): void
  /** Hints may be missing: the receiver scans everything. `reason` is for the log. */
  onLost(reason: string): void
  /** Called once, when the system allows no more watches. `message` names what the operator can do about it. */
  onLimit(message: string): void
}

export interface TreeWatcherOptions {
  /** The real path of a directory. */
  readonly root: string
  readonly backEnd: WatchBackEnd
  /** How often `chokidar` checks every entry, where the kernel does not report all changes; null: it relies on the kernel. */
  readonly pollIntervalMs: number | null
  readonly events: WatchEvents
  readonly clock: Clock
  readonly logger: Logger
}

/** Watches one tree until it is disposed of; reports nothing after that. */
export interface TreeWatcher extends AsyncDisposable {
  /** How long after a change its hint may come, besides the time that the kernel takes to deliver events. */
  readonly delayMs: number
  /**
   * Watches more directories, relative to the root and '' for the root itself, and returns those that were not watched before:
   * a caller that scanned one of them before this call scans it again. Always [] for a back end that watches the whole tree by
   * itself; directories that are gone or beyond the system's limit are left out.
   */
  add(directories: readonly string[]): readonly string[]
  /** Stops watching all other directories, at the end of a complete scan; `directories` include those added while it ran. */
  keepOnly(directories: ReadonlySet<string>): void
  /** The system allowed fewer watches than there are directories. */
  readonly isLimited: boolean
  /** The tree has outgrown this watcher, which reports no more hints: scans replace it. */
  readonly hasStopped: boolean
}

/** The tree has more files and directories than a watcher may hold in memory: scans cost less. */
export class TooManyEntriesError extends Error {
  constructor(maxEntries: number) {
    super(`it has more than ${groupDigits(maxEntries)} files and directories, too many to poll one by one`)
  }
}
