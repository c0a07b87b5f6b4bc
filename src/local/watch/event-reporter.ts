import { sep } from 'node:path'
import { parentOf, pathWithin } from '../../foundation/files/paths.ts'
import type { TreeWatcherOptions } from './tree-watcher.ts'

/** More hints are a burst: kernels drop events that are not read in time (inotify: above 16,384). */
const MAX_HINTS_A_SECOND = 4_000
/** A burst is reported once, or at these intervals. */
const LOSS_DELAY_MS = 3_000

/** Reports relative paths, a burst as a loss, a limit once, and nothing after its disposal. */
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

  /** While a loss is due, hints are dropped, since the receiver scans everything. */
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

  /** After a delay; other losses meanwhile are part of the report. */
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

/** A name that is not UTF-8 arrives damaged: its directory stands for it. */
function nearestReadable(path: string): string {
  const at = path.indexOf('\ufffd')
  return at < 0 ? path : parentOf(path.slice(0, at))
}
