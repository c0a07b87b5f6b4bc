import { messageOf } from '../../foundation/errors.ts'
import { escapeText } from '../../foundation/text.ts'
import { Announcer } from './event-reporter.ts'
import type { TreeWatcher, WatchBackEnd, WatchTreeOptions } from './tree-watcher.ts'
import { describeWatchLimit, isWatchLimit } from './watch-limit.ts'

/** Where a package that watches a whole tree tells what it sees. */
export interface Listener {
  /** An absolute path that may have changed. */
  onPath(path: string): void
  onError(error: unknown): void
}

/** Begins to watch, complete when it resolves with how to end it. */
export type WatchWhole = (root: string, listener: Listener) => Promise<() => Promise<void>>

/** A package that watches the whole tree by itself, as a TreeWatcher: nothing is to be added and nothing to be let go. */
export async function watchRecursively(options: WatchTreeOptions, watchWhole: WatchWhole): Promise<TreeWatcher> {
  const watcher = new RecursiveWatcher(options)
  await watcher.begin(watchWhole)
  return watcher
}

class RecursiveWatcher implements TreeWatcher {
  readonly backEnd: WatchBackEnd
  readonly #options: WatchTreeOptions
  readonly #announcer: Announcer
  #isLimited = false
  #end = async () => {}

  constructor(options: WatchTreeOptions) {
    this.backEnd = options.backEnd
    this.#options = options
    this.#announcer = new Announcer(options)
  }

  get isLimited(): boolean {
    return this.#isLimited
  }

  add(): readonly string[] {
    return []
  }

  keepOnly(): void {}

  async begin(watchWhole: WatchWhole): Promise<void> {
    const onPath = (path: string) => this.#announcer.hintAbsolute(path)
    const onError = (error: unknown) => this.#hearError(error)
    try {
      this.#end = await watchWhole(this.#options.root, { onPath, onError })
    } catch (error) {
      if (isWatchLimit(error)) this.#announcer.limit(describeWatchLimit(error))
      this.#announcer[Symbol.dispose]()
      throw error
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#announcer[Symbol.dispose]()
    await this.#end().catch((error: unknown) => this.#log('A watcher did not end properly', error))
  }

  /** Whatever went wrong, and be it that the system dropped events: something may have gone unseen. */
  #hearError(error: unknown): void {
    this.#log('A watcher reports an error', error)
    if (isWatchLimit(error)) {
      this.#isLimited = true
      this.#announcer.limit(describeWatchLimit(error))
    } else this.#announcer.lost(escapeText(messageOf(error)))
  }

  #log(message: string, error: unknown): void {
    this.#options.logger.debug(message, { error: escapeText(messageOf(error)) })
  }
}
