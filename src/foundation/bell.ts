import type { Clock } from './clock.ts'

/** Wakes whoever waits. A ring while nobody waits is kept for the next one: none is lost, many are one. */
export class Bell {
  #isRung = false
  #wake: (() => void) | undefined

  ring(): void {
    this.#isRung = true
    this.#wake?.()
  }

  /** Resolves at the next ring, at once when there was one since the last wait, or when `until` is aborted. */
  async wait(until?: AbortSignal): Promise<void> {
    if (!this.#isRung && !until?.aborted) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
        until?.addEventListener('abort', () => resolve(), { once: true })
      })
    }
    this.#wake = undefined
    this.#isRung = false
  }

  /** Like `wait`, at most so long; true when the time is over. */
  async waitAtMost(clock: Clock, durationMs: number, until?: AbortSignal): Promise<boolean> {
    const end = new AbortController()
    const stop = () => end.abort()
    until?.addEventListener('abort', stop, { once: true })
    if (until?.aborted) stop()
    let isOver = false
    const timer = new AbortController()
    const sleep = clock.sleep(Math.max(0, Math.min(durationMs, LONGEST_SLEEP_MS)), timer.signal).then(
      () => {
        isOver = true
        stop()
      },
      () => {},
    )
    await this.wait(end.signal)
    timer.abort()
    until?.removeEventListener('abort', stop)
    await sleep
    return isOver
  }
}

/** A timer can't count further; whoever waits longer wakes in between. */
const LONGEST_SLEEP_MS = 2 ** 31 - 1
