import type { Clock } from '../../../foundation/clock.ts'

/** A duration that may be spent in several spans; calls `onOver` when it is used up. */
export class TimeLimit {
  readonly #clock: Clock
  readonly #limitMs: number
  readonly #onOver: () => void
  #spentMs = 0
  #running: { readonly sinceMs: number; readonly stop: AbortController } | undefined

  constructor(clock: Clock, limitMs: number, onOver: () => void) {
    this.#clock = clock
    this.#limitMs = limitMs
    this.#onOver = onOver
  }

  /** Starts a span; does nothing while one runs. */
  start(): void {
    if (this.#running) return
    const stop = new AbortController()
    this.#running = { sinceMs: this.#clock.monotonicMs(), stop }
    const leftMs = Math.max(0, this.#limitMs - this.#spentMs)
    this.#clock.sleep(leftMs, stop.signal).then(
      () => this.#onOver(),
      () => {},
    )
  }

  stop(): void {
    if (!this.#running) return
    this.#spentMs += this.#clock.monotonicMs() - this.#running.sinceMs
    this.#running.stop.abort()
    this.#running = undefined
  }

  /** Stops, and makes the whole duration available again. */
  reset(): void {
    this.stop()
    this.#spentMs = 0
  }
}
