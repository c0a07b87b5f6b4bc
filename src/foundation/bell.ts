import type { Clock } from './clock.ts'

/** Wakes whoever waits. A ring while nobody waits is kept for the next one: none is lost, many are one. */
export class Bell {
  #isRung = false
  #wake: (() => void) | undefined

  ring(): void {
    this.#isRung = true
    this.#wake?.()
  }

  /** Resolves at the next ring, or at once when there was one since the last wait. */
  async wait(): Promise<void> {
    if (!this.#isRung) await new Promise<void>((resolve) => (this.#wake = resolve))
    this.#answer()
  }

  /** The same, at most so long, or until `until` is aborted; true when the time is over. */
  async waitAtMost(clock: Clock, durationMs: number, until?: AbortSignal): Promise<boolean> {
    const isOver = !this.#isRung && !until?.aborted && (await this.#sleep(clock, durationMs, until))
    this.#answer()
    return isOver
  }

  async #sleep(clock: Clock, durationMs: number, until: AbortSignal | undefined): Promise<boolean> {
    const end = new AbortController()
    const stop = () => end.abort(RUNG)
    this.#wake = stop
    until?.addEventListener('abort', stop, { once: true })
    try {
      await clock.sleep(Math.max(0, Math.min(durationMs, LONGEST_SLEEP_MS)), end.signal)
      return true
    } catch {
      return false
    } finally {
      until?.removeEventListener('abort', stop)
    }
  }

  #answer(): void {
    this.#wake = undefined
    this.#isRung = false
  }
}

/** Without a reason of its own each abort would make an exception with a stack. */
const RUNG = 'rung'

/** A timer can't count further; whoever waits longer wakes in between. */
const LONGEST_SLEEP_MS = 2 ** 31 - 1
