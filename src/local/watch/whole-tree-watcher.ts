import { messageOf } from '../../foundation/errors.ts'
import { escapeText } from '../../foundation/text.ts'
import { EventReporter } from './event-reporter.ts'
import type { TreeWatcher, TreeWatcherOptions, WatchBackEnd } from './tree-watcher.ts'
import { describeWatchLimit, isWatchLimit } from './watch-limit.ts'

/** Where a package that watches a whole tree tells what it sees. */
export interface PathListener {
  /** An absolute path that may have changed. */
  onPath(path: string): void
  onError(error: unknown): void
}

/** Begins to watch, complete when it resolves with how to end it. */
export type WatchWholeTree = (root: string, listener: PathListener) => Promise<() => Promise<void>>

/** A package that watches the whole tree by itself, as a TreeWatcher: nothing is to be added and nothing to be let go. */
export async function openWholeTreeWatcher(
  options: TreeWatcherOptions,
  watchWhole: WatchWholeTree,
): Promise<TreeWatcher> {
  const watcher = new WholeTreeWatcher(options)
  await watcher.start(watchWhole)
  return watcher
}

class WholeTreeWatcher implements TreeWatcher {
  readonly backEnd: WatchBackEnd
  readonly #options: TreeWatcherOptions
  readonly #reporter: EventReporter
  #isLimited = false
  #stop = async () => {}

  constructor(options: TreeWatcherOptions) {
    this.backEnd = options.backEnd
    this.#options = options
    this.#reporter = new EventReporter(options)
  }

  get isLimited(): boolean {
    return this.#isLimited
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
    await this.#stop().catch((error: unknown) => this.#log('A watcher did not end properly', error))
  }

  /** Whatever went wrong, and be it that the system dropped events: something may have gone unseen. */
  #handleError(error: unknown): void {
    this.#log('A watcher reports an error', error)
    if (isWatchLimit(error)) {
      this.#isLimited = true
      this.#reporter.reportLimit(describeWatchLimit(error))
    } else this.#reporter.reportLoss(escapeText(messageOf(error)))
  }

  #log(message: string, error: unknown): void {
    this.#options.logger.debug(message, { error: escapeText(messageOf(error)) })
  }
}
