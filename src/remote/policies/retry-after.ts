import type { Clock } from '../../foundation/clock.ts'

interface RetryAfterOptions {
  /** What is left of a pause that the service asked for before. */
  readonly remainingMs?: number
  /** Is told of each pause that ends later than those before; must not throw. */
  readonly onRetryAfter?: (lengthMs: number) => void
}

/** Until when a service wants no request, whichever client sends it: it outlives the clients that share it. */
export class RetryAfter {
  readonly #clock: Clock
  readonly #onRetryAfter: ((lengthMs: number) => void) | undefined
  #untilMs: number

  constructor(clock: Clock, { remainingMs: restMs = 0, onRetryAfter: onAsked }: RetryAfterOptions = {}) {
    this.#clock = clock
    this.#onRetryAfter = onAsked
    this.#untilMs = restMs > 0 ? clock.monotonicMs() + restMs : 0
  }

  /** Monotonic; may be over. */
  get untilMs(): number {
    return this.#untilMs
  }

  /** The service wants no request for so long from now. */
  record(lengthMs: number): void {
    const untilMs = this.#clock.monotonicMs() + lengthMs
    if (lengthMs <= 0 || untilMs <= this.#untilMs) return
    this.#untilMs = untilMs
    this.#onRetryAfter?.(lengthMs)
  }
}
