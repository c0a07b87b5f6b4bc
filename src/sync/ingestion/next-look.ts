import type { Clock } from '../../foundation/clock.ts'

/** The least and the longest time until the next look: however someone sets the wall clock, a look comes. */
const DELAY_MS = { least: 60_000, most: 600_000 } as const

/** When the next resource whose ingestion ended badly is due for another look. */
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

  /** No resource is known to become due. */
  postpone(): void {
    this.atMs = this.#clock.monotonicMs() + DELAY_MS.most
  }

  /** A resource becomes due at `retryAt` (wall clock); null: none does. */
  schedule(retryAt: number | null): void {
    if (retryAt === null) return
    const delayMs = Math.max(DELAY_MS.least, retryAt - this.#clock.nowMs())
    this.atMs = Math.min(this.atMs, this.#clock.monotonicMs() + delayMs)
  }
}
