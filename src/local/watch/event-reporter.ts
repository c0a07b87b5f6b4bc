import { sep } from 'node:path'
import { parentOf, pathWithin } from '../../foundation/files/paths.ts'
import type { TreeWatcherOptions } from './tree-watcher.ts'

/** More hints in a second are a burst: kernels silently drop events that a program does not read in time (inotify: above 16,384). */
const MAX_HINTS_A_SECOND = 4_000
/** How long after its detection a loss is reported, so that a burst is reported once, or at these intervals while it lasts. */
const LOSS_DELAY_MS = 3_000

/** Reports the events of one watcher: paths in the promised form, a burst as a loss, a limit once, and nothing after its disposal. */
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

  /** `path` is relative. While a loss is about to be reported, hints are dropped, since the receiver will scan everything. */
  reportHint(path: string): void {
    if (this.#end.signal.aborted) return
    if (this.#isBurst()) this.reportLoss('burst')
    if (!this.#isLossPending) this.#options.events.onHint(nearestReadable(path))
  }

  /** Reports a hint from a watcher that uses absolute paths. */
  reportAbsoluteHint(path: string): void {
    const relativePath = pathWithin(this.#options.root, path, sep)
    if (relativePath === undefined) this.reportLoss('a path outside the root')
    else this.reportHint(relativePath.replaceAll(sep, '/'))
  }

  /** Reports, after a delay, that hints are missing; losses during the delay are part of the same report. */
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

/** The path itself; for a name that is not UTF-8, which arrives with replacement characters, the directory that holds it. */
function nearestReadable(path: string): string {
  const at = path.indexOf('\ufffd')
  return at < 0 ? path : parentOf(path.slice(0, at))
}
