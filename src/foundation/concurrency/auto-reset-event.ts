import type { Clock } from '../clock.ts'
import { onAbort } from './waits.ts'

/** An event for one waiter: `set` ends the current wait or, if nobody waits, the next one. Then the event is reset. */
export class AutoResetEvent {
  #isSet = false
  #wake: (() => void) | undefined

  set(): void {
    this.#isSet = true
    this.#wake?.()
  }

  /** Resolves at once if the event was set since the last wait. */
  async wait(): Promise<void> {
    if (!this.#isSet) await new Promise<void>((resolve) => (this.#wake = resolve))
    this.#reset()
  }

  /** Like `wait`, for at most `durationMs` or until `until` is aborted; returns true if the time ran out. */
  async waitAtMost(clock: Clock, durationMs: number, until?: AbortSignal): Promise<boolean> {
    const isOver = !this.#isSet && !until?.aborted && (await this.#sleep(clock, durationMs, until))
    this.#reset()
    return isOver
  }

  async #sleep(clock: Clock, durationMs: number, until: AbortSignal | undefined): Promise<boolean> {
    const end = new AbortController()
    const stop = () => end.abort(WAS_SET)
    this.#wake = stop
    using _until = until && onAbort(until, stop)
    try {
      await clock.sleep(Math.max(0, Math.min(durationMs, MAX_SLEEP_MS)), end.signal)
      return true
    } catch {
      return false
    }
  }

  #reset(): void {
    this.#wake = undefined
    this.#isSet = false
  }
}

/** The reason of each abort, which without one would create an exception with a stack. */
const WAS_SET = 'set'

/** The longest delay of a timer; a longer wait ends after this time, as if its own time had run out. */
const MAX_SLEEP_MS = 2 ** 31 - 1
