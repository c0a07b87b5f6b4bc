import type { Clock } from '../../foundation/clock.ts'
import type { Logger } from '../../foundation/logger.ts'

/** What tells us of changes: one watch a directory of our own (`node`), or a package that watches the whole tree. */
export type WatchBackEnd = 'node' | 'parcel' | 'chokidar'

/** What a watcher tells. A hint proves nothing and may come twice, late or for nothing: look at the path. */
export interface WatchEvents {
  /** `path`, relative to the root with `/` between names and '' for the root itself, may have changed. */
  onHint(path: string): void
  /** Hints may be missing: scan everything. `reason` is for the log. */
  onLost(reason: string): void
  /** Once: the system allows no more watches. `message` says what the operator can do about it. */
  onLimit(message: string): void
}

export interface TreeWatcherOptions {
  /** A real path of a directory. */
  readonly root: string
  readonly backEnd: WatchBackEnd
  readonly events: WatchEvents
  readonly clock: Clock
  readonly logger: Logger
}

/** Watches one tree until it is disposed of; after that no event is told. */
export interface TreeWatcher extends AsyncDisposable {
  readonly backEnd: WatchBackEnd
  /**
   * Begins to watch directories, relative to the root and '' for the root itself, and gives back those that were not
   * watched before: whoever scanned one of them before this call scans it again. Always [] for back ends that watch
   * the whole tree by themselves, and for directories that are gone or beyond the system's limit.
   */
  add(directories: readonly string[]): readonly string[]
  /** Ends the watches of all other directories, at the end of a complete scan: name also those added while it ran. */
  keepOnly(directories: ReadonlySet<string>): void
  /** The system allowed fewer watches than there are directories. */
  readonly isLimited: boolean
}
