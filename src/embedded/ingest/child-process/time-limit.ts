import type { Clock } from '../../../foundation/clock.ts'

/** A time that may be spent in pieces; `onOver` is called once it is used up. */
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

  /** Does nothing while it runs. */
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

  pause(): void {
    if (!this.#running) return
    this.#spentMs += this.#clock.monotonicMs() - this.#running.sinceMs
    this.#running.stop.abort()
    this.#running = undefined
  }

  /** Stops, and forgets what was spent. */
  reset(): void {
    this.pause()
    this.#spentMs = 0
  }
}
