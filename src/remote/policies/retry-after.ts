import type { Clock } from '../../foundation/clock.ts'

interface RetryAfterOptions {
  /** The rest of a `Retry-After` received earlier. */
  readonly remainingMs?: number
  /** Called for each `Retry-After` that ends later than those before; must not throw. */
  readonly onRetryAfter?: (lengthMs: number) => void
}

/** Until when a service asks for no requests (`Retry-After`). Clients of one service share it, also one after another. */
export class RetryAfter {
  readonly #clock: Clock
  readonly #onRetryAfter: ((lengthMs: number) => void) | undefined
  #untilMs: number

  constructor(clock: Clock, { remainingMs: restMs = 0, onRetryAfter: onAsked }: RetryAfterOptions = {}) {
    this.#clock = clock
    this.#onRetryAfter = onAsked
    this.#untilMs = restMs > 0 ? clock.monotonicMs() + restMs : 0
  }

  /** Monotonic; may have passed. */
  get untilMs(): number {
    return this.#untilMs
  }

  /** Records that the service asks for no requests for `lengthMs` from now. */
  record(lengthMs: number): void {
    const untilMs = this.#clock.monotonicMs() + lengthMs
    if (lengthMs <= 0 || untilMs <= this.#untilMs) return
    this.#untilMs = untilMs
    this.#onRetryAfter?.(lengthMs)
  }
}
