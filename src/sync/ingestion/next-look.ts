import type { Clock } from '../../foundation/clock.ts'

/** What ended badly is looked at when it is due, but no more often, and at least as often in case the wall clock was set. */
const PAUSE_MS = { least: 60_000, most: 600_000 } as const

/** When to look again, as far as is known. */
export class NextLook {
  /** Monotonic. */
  atMs = 0
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get isDue(): boolean {
    return this.#clock.monotonicMs() >= this.atMs
  }

  demand(): void {
    this.atMs = 0
  }

  /** Nothing is known to become due. */
  postpone(): void {
    this.atMs = this.#clock.monotonicMs() + PAUSE_MS.most
  }

  /** Something becomes due at `retryAt` on the wall clock; null: nothing does. */
  note(retryAt: number | null): void {
    if (retryAt === null) return
    const pauseMs = Math.max(PAUSE_MS.least, retryAt - this.#clock.nowMs())
    this.atMs = Math.min(this.atMs, this.#clock.monotonicMs() + pauseMs)
  }
}
