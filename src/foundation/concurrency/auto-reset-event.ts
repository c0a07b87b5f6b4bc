import type { Clock } from '../clock.ts'

/**
 * An event for one waiter: `set` wakes the waiter and resets the event. Without a waiter it stays set until the next wait, so that no
 * wake-up is lost.
 */
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
    until?.addEventListener('abort', stop, { once: true })
    try {
      await clock.sleep(Math.max(0, Math.min(durationMs, MAX_SLEEP_MS)), end.signal)
      return true
    } catch {
      return false
    } finally {
      until?.removeEventListener('abort', stop)
    }
  }

  #reset(): void {
    this.#wake = undefined
    this.#isSet = false
  }
}

/** Without a reason, each abort would create an exception with a stack. */
const WAS_SET = 'set'

/** The longest delay of a timer; a longer wait takes several. */
const MAX_SLEEP_MS = 2 ** 31 - 1
