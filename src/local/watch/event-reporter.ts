import { sep } from 'node:path'
import { parentOf, pathWithin } from '../../foundation/paths.ts'
import type { TreeWatcherOptions } from './tree-watcher.ts'

/** More within a second is a burst: kernels drop what nobody fetches in time (inotify beyond 16,384) without a word. */
const MAX_HINTS_A_SECOND = 4_000
/** A loss is told so long after it was noticed, and so is told once a burst, after its end or in pauses. */
const LOSS_DELAY_MS = 3_000

/** Tells the events of one watcher: paths as they are promised, bursts as a loss, a limit once, nothing after its end. */
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

  /** `path` is relative. While a loss is about to be told, hints are spared: everything will be scanned anyway. */
  reportHint(path: string): void {
    if (this.#end.signal.aborted) return
    if (this.#isBurst()) this.reportLoss('burst')
    if (!this.#isLossPending) this.#options.events.onHint(nearestReadable(path))
  }

  /** A hint from a watcher that speaks of absolute paths. */
  reportAbsoluteHint(path: string): void {
    const relativePath = pathWithin(this.#options.root, path, sep)
    if (relativePath === undefined) this.reportLoss('a path outside the root')
    else this.reportHint(relativePath.replaceAll(sep, '/'))
  }

  /** Tells a little later that hints are missing; further losses until then are the same one. */
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

/** The path itself, or the directory in which a name was not UTF-8 and came with replacement characters. */
function nearestReadable(path: string): string {
  const at = path.indexOf('\ufffd')
  return at < 0 ? path : parentOf(path.slice(0, at))
}
