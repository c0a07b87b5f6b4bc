import { once } from 'node:events'
import { type FSWatcher, watch } from 'chokidar'
import { messageOf } from '../../foundation/errors.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import { EventReporter } from './event-reporter.ts'
import { TooManyEntriesError, type TreeWatcher, type TreeWatcherOptions } from './tree-watcher.ts'
import { describeWatchLimit, isWatchLimit } from './watch-limit.ts'

/** `atomic` is off, since it delays deletions to merge replacements. */
const OPTIONS = { followSymlinks: false, ignorePermissionErrors: true, atomic: false } as const

/** For more entries, at 5 KB and 17 µs each, a scan takes less. */
const MAX_POLLED_ENTRIES = 5_000

/** Watches a whole tree by chokidar: by the kernel's events, or with `pollIntervalMs` by checks, which find changes without events. */
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

  /** Rejects with TooManyEntriesError where the tree is too large to poll; one that grows beyond that stops the watcher. */
  static async open(options: TreeWatcherOptions, maxPolledEntries = MAX_POLLED_ENTRIES): Promise<TreeWatcher> {
    const { root, pollIntervalMs: interval } = options
    const how =
      interval === null
        ? ({ backend: 'native', ignoreInitial: true } as const)
        : ({ backend: 'polling', pollingInterval: interval, pollingBinaryInterval: interval } as const)
    const watcher = watch(root, { ...OPTIONS, ...how })
    const opened = new ChokidarWatcher(options, watcher)
    const tooMany = interval === null ? undefined : signalMoreThan(maxPolledEntries, watcher)
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
    // Entries that polling lists at first are no changes.
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

  /** After any error, changes may have gone unseen. */
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

/** Aborts with TooManyEntriesError beyond this number. */
function signalMoreThan(maxEntries: number, watcher: FSWatcher): AbortSignal {
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
