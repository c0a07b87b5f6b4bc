import type { Clock } from '../foundation/clock.ts'

interface AskedBefore {
  /** What is left of a pause that the service asked for before. */
  readonly restMs?: number
  /** Is told of each pause that ends later than those before; must not throw. */
  readonly onAsked?: (lengthMs: number) => void
}

/** Until when a service wants no request, whichever client sends it: it outlives the clients that share it. */
export class AskedPause {
  readonly #clock: Clock
  readonly #onAsked: ((lengthMs: number) => void) | undefined
  #untilMs: number

  constructor(clock: Clock, { restMs = 0, onAsked }: AskedBefore = {}) {
    this.#clock = clock
    this.#onAsked = onAsked
    this.#untilMs = restMs > 0 ? clock.monotonicMs() + restMs : 0
  }

  /** Monotonic; may be over. */
  get untilMs(): number {
    return this.#untilMs
  }

  /** The service wants no request for so long from now. */
  note(lengthMs: number): void {
    const untilMs = this.#clock.monotonicMs() + lengthMs
    if (lengthMs <= 0 || untilMs <= this.#untilMs) return
    this.#untilMs = untilMs
    this.#onAsked?.(lengthMs)
  }
}
