import { messageOf } from '../../foundation/errors.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import { EventReporter } from './event-reporter.ts'
import { TooManyEntriesError, type TreeWatcher, type TreeWatcherOptions, type WatchBackEnd } from './tree-watcher.ts'
import { describeWatchLimit, isWatchLimit } from './watch-limit.ts'

/** Where a package that watches a whole tree reports. */
export interface PathListener {
  /** An absolute path that may have changed. */
  onPath(path: string): void
  onError(error: unknown): void
}

/** Starts to watch; resolves once the whole tree is watched, with the function that stops it. */
export type WatchWholeTree = (root: string, listener: PathListener) => Promise<() => Promise<void>>

/** A TreeWatcher by a package that watches the whole tree itself. `delayMs`: how late the package may report a change. */
export async function openWholeTreeWatcher(
  options: TreeWatcherOptions,
  watchWhole: WatchWholeTree,
  delayMs = 0,
): Promise<TreeWatcher> {
  const watcher = new WholeTreeWatcher(options, delayMs)
  await watcher.start(watchWhole)
  return watcher
}

class WholeTreeWatcher implements TreeWatcher {
  readonly backEnd: WatchBackEnd
  readonly delayMs: number
  readonly #options: TreeWatcherOptions
  readonly #reporter: EventReporter
  #isLimited = false
  #hasStopped = false
  #stop = async () => {}

  constructor(options: TreeWatcherOptions, delayMs: number) {
    this.backEnd = options.backEnd
    this.delayMs = delayMs
    this.#options = options
    this.#reporter = new EventReporter(options)
  }

  get isLimited(): boolean {
    return this.#isLimited
  }

  get hasStopped(): boolean {
    return this.#hasStopped
  }

  add(): readonly string[] {
    return []
  }

  keepOnly(): void {}

  async start(watchWhole: WatchWholeTree): Promise<void> {
    const onPath = (path: string) => this.#reporter.reportAbsoluteHint(path)
    const onError = (error: unknown) => this.#handleError(error)
    try {
      this.#stop = await watchWhole(this.#options.root, { onPath, onError })
    } catch (error) {
      if (isWatchLimit(error)) this.#reporter.reportLimit(describeWatchLimit(error))
      this.#reporter[Symbol.dispose]()
      throw error
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#reporter[Symbol.dispose]()
    await this.#stopAndLog()
  }

  /** After any error, such as events that the system dropped, changes may have gone unseen. */
  #handleError(error: unknown): void {
    this.#log('The watcher reports an error; scans continue', error)
    if (isWatchLimit(error)) {
      this.#isLimited = true
      this.#reporter.reportLimit(describeWatchLimit(error))
      return
    }
    if (error instanceof TooManyEntriesError) {
      this.#hasStopped = true
      void this.#stopAndLog()
    }
    this.#reporter.reportLoss(escapeText(messageOf(error)))
  }

  #stopAndLog(): Promise<void> {
    return this.#stop().catch((error: unknown) => this.#log('Cannot stop the watcher', error))
  }

  #log(message: string, error: unknown): void {
    this.#options.logger.debug(message, { error: escapeText(messageOf(error)) })
  }
}
