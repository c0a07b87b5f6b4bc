import { sep } from 'node:path'
import type { Clock } from '../../foundation/clock.ts'
import { parentOf, pathWithin } from '../../foundation/files/paths.ts'
import type { Logger } from '../../foundation/logger.ts'
import { groupDigits } from '../../foundation/text/safe-text.ts'

/** `node`: one watch for each directory. `chokidar`: watches the whole tree. */
export type WatchBackEnd = 'node' | 'chokidar'

/** What a watcher reports. A hint may come twice, late or without a change, so the receiver checks the path. */
export interface WatchEvents {
  /** Something may have changed at `path`, which is relative to the root, '' for the root itself. */
  onHint(path: string): void
  /** Changes may have been missed, so the receiver scans the whole mirror. `reason` is for the log. */
  onLost(reason: string): void
  /** Called once, when the system allows no more watches. */
  onLimit(message: string): void
}

export interface TreeWatcherOptions {
  readonly root: string
  readonly backEnd: WatchBackEnd
  /** How often `chokidar` checks every entry; null if it relies on the kernel's events. */
  readonly pollIntervalMs: number | null
  readonly events: WatchEvents
  readonly clock: Clock
  readonly logger: Logger
}

/** Reports nothing after its disposal. */
export interface TreeWatcher extends AsyncDisposable {
  /** How long after a change its hint may come, without the kernel's delay. */
  readonly delayMs: number
  /** Watches directories. Returns those that are newly watched, which the caller scans again; `chokidar` always returns []. */
  add(directories: readonly string[]): readonly string[]
  /** Stops watching all other directories. The caller passes the directories that a complete scan found. */
  keepOnly(directories: ReadonlySet<string>): void
  /** True if the system allows fewer watches than there are directories. */
  readonly isLimited: boolean
  /** True if there are too many entries for this watcher, so that scans replace it. */
  readonly hasStopped: boolean
}

/** The tree has so many entries that scans cost less than polling. */
export class TooManyEntriesError extends Error {
  constructor(maxEntries: number) {
    super(`it has more than ${groupDigits(maxEntries)} files and directories, too many to poll one by one`)
  }
}

/** More hints count as a burst, since the kernel drops events that are not read in time (inotify holds 16,384). */
const MAX_HINTS_A_SECOND = 4_000
/** How long after a loss it is reported, together with further losses. */
const LOSS_DELAY_MS = 3_000

/** Reports hints by relative path, a burst of hints as a loss, a limit once, and nothing after its disposal. */
export class EventReporter implements Disposable {
  readonly #options: TreeWatcherOptions
  readonly #end = new AbortController()
  #secondBeganMs = 0
  #hintsInSecond = 0
  #isLossPending = false
  #isLimitReported = false

  constructor(options: TreeWatcherOptions) {
    this.#options = options
  }

  /** Reports a hint, unless a loss is about to be reported: the receiver then scans the whole mirror anyway. */
  reportHint(path: string): void {
    if (this.#end.signal.aborted) return
    if (this.#isBurst()) this.reportLoss('burst')
    if (!this.#isLossPending) this.#options.events.onHint(nearestReadable(path))
  }

  reportAbsoluteHint(path: string): void {
    const relativePath = pathWithin(this.#options.root, path, sep)
    if (relativePath === undefined) this.reportLoss('a path outside the root')
    else this.reportHint(relativePath.replaceAll(sep, '/'))
  }

  /** Reports a loss after a delay, and once for all losses of that time. */
  reportLoss(reason: string): void {
    if (this.#isLossPending || this.#end.signal.aborted) return
    this.#isLossPending = true
    void this.#reportLossLater(reason)
  }

  reportLimit(message: string): void {
    if (this.#isLimitReported || this.#end.signal.aborted) return
    this.#isLimitReported = true
    this.#options.events.onLimit(message)
  }

  [Symbol.dispose](): void {
    this.#end.abort()
  }

  #isBurst(): boolean {
    const nowMs = this.#options.clock.monotonicMs()
    if (nowMs - this.#secondBeganMs >= 1_000) {
      this.#secondBeganMs = nowMs
      this.#hintsInSecond = 0
    }
    this.#hintsInSecond += 1
    return this.#hintsInSecond > MAX_HINTS_A_SECOND
  }

  async #reportLossLater(reason: string): Promise<void> {
    await this.#options.clock.sleep(LOSS_DELAY_MS, this.#end.signal).catch(() => {})
    if (this.#end.signal.aborted) return
    this.#isLossPending = false
    this.#options.events.onLost(reason)
  }
}

/** Returns the path or, if a name in it arrived damaged because it is not UTF-8, the directory above that name. */
function nearestReadable(path: string): string {
  const at = path.indexOf('\ufffd')
  return at < 0 ? path : parentOf(path.slice(0, at))
}
