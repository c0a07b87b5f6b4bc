import { once } from 'node:events'
import { type FSWatcher, watch } from 'chokidar'
import { messageOf } from '../../foundation/errors.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import { EventReporter, TooManyEntriesError, type TreeWatcher, type TreeWatcherOptions } from './tree-watcher.ts'
import { describeWatchLimit, isWatchLimit } from './watch-limit.ts'

/** `atomic` is off, because it would delay each deletion to see whether the file is created again. */
const OPTIONS = { followSymlinks: false, ignorePermissionErrors: true, atomic: false } as const

/** The most entries to poll, at 5 KB of memory and 17 µs each; if there are more, scans are cheaper. */
const MAX_POLLED_ENTRIES = 5_000

/** Watches a whole tree with chokidar: by the kernel's events or, with `pollIntervalMs`, by checking every entry at this interval. */
export class ChokidarWatcher implements TreeWatcher {
  readonly delayMs: number
  isLimited = false
  hasStopped = false
  readonly #options: TreeWatcherOptions
  readonly #reporter: EventReporter
  readonly #watcher: FSWatcher

  private constructor(options: TreeWatcherOptions, watcher: FSWatcher) {
    this.delayMs = options.pollIntervalMs ?? 0
    this.#options = options
    this.#reporter = new EventReporter(options)
    this.#watcher = watcher
  }

  /** Starts a watcher. Rejects with TooManyEntriesError if there are too many entries to poll; if there are later, the watcher stops. */
  static async open(options: TreeWatcherOptions, maxPolledEntries = MAX_POLLED_ENTRIES): Promise<TreeWatcher> {
    const { root, pollIntervalMs: interval } = options
    const method =
      interval === null
        ? ({ backend: 'native', ignoreInitial: true } as const)
        : ({ backend: 'polling', pollingInterval: interval, pollingBinaryInterval: interval } as const)
    const watcher = watch(root, { ...OPTIONS, ...method })
    const opened = new ChokidarWatcher(options, watcher)
    const tooMany = interval === null ? undefined : signalTooManyEntries(maxPolledEntries, watcher)
    await opened.#start(tooMany)
    return opened
  }

  add(): readonly string[] {
    return []
  }

  keepOnly(): void {}

  async [Symbol.asyncDispose](): Promise<void> {
    this.#reporter[Symbol.dispose]()
    await this.#close()
  }

  async #start(tooMany: AbortSignal | undefined): Promise<void> {
    const report = (_: unknown, path: string) => this.#reporter.reportAbsoluteHint(path)
    // Polling first reports every entry as added, which is no change.
    if (!tooMany) this.#watcher.on('all', report)
    try {
      await once(this.#watcher, 'ready', { signal: tooMany })
    } catch (error) {
      if (isWatchLimit(error)) this.#reporter.reportLimit(describeWatchLimit(error))
      await this[Symbol.asyncDispose]()
      throw tooMany?.aborted ? tooMany.reason : error
    }
    if (tooMany) this.#watcher.on('all', report)
    this.#watcher.on('error', (error) => this.#handleError(error))
    tooMany?.addEventListener('abort', () => this.#handleError(tooMany.reason), { once: true })
  }

  /** Reports a limit of the system, and any other error as lost changes. Too many entries also stop the watcher. */
  #handleError(error: unknown): void {
    this.#log('The watcher reports an error; scans continue', error)
    if (isWatchLimit(error)) {
      this.isLimited = true
      this.#reporter.reportLimit(describeWatchLimit(error))
      return
    }
    if (error instanceof TooManyEntriesError) {
      this.hasStopped = true
      void this.#close()
    }
    this.#reporter.reportLoss(escapeText(messageOf(error)))
  }

  #close(): Promise<void> {
    return this.#watcher.close().catch((error: unknown) => this.#log('Cannot stop the watcher', error))
  }

  #log(message: string, error: unknown): void {
    this.#options.logger.debug(message, { error: escapeText(messageOf(error)) })
  }
}

/** Returns a signal that is aborted with TooManyEntriesError once the watcher has found more than `maxEntries`. */
function signalTooManyEntries(maxEntries: number, watcher: FSWatcher): AbortSignal {
  const tooMany = new AbortController()
  let count = 0
  const add = () => {
    count += 1
    if (count > maxEntries) tooMany.abort(new TooManyEntriesError(maxEntries))
  }
  const remove = () => {
    count -= 1
  }
  watcher.on('add', add).on('addDir', add).on('unlink', remove).on('unlinkDir', remove)
  return tooMany.signal
}
