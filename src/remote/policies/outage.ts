import { z } from 'zod'
import type { Clock } from '../../foundation/clock.ts'
import { serviceFailureCodes } from '../../foundation/errors.ts'
import type { FailureFacts } from '../wire/transient-failure.ts'

/** The service gives no usable answers now: what is known of that. Times are wall clock. */
export const outageShape = z.object({
  origin: z.string(),
  code: z.enum(serviceFailureCodes),
  /** In words, to stand in brackets: `connection refused`. */
  cause: z.string(),
  /** When the first try that failed, or has no answer yet, began. */
  sinceMs: z.number(),
  /** Null: a try is under way that has no answer yet. */
  nextTryAtMs: z.number().nullable(),
  /** When waiting ends without success; null: after some tries, soon. */
  untilMs: z.number().nullable(),
  /** Until when the service itself asks to be left alone. */
  askedUntilMs: z.number().nullable(),
})

export type Outage = Readonly<z.infer<typeof outageShape>>

/** Is told of an outage, again with each try of it, and with null once the service answers. */
export type OutageListener = (outage: Outage | null) => void

interface Plan {
  readonly pauseMs: number
  /** Monotonic. */
  readonly untilMs: number | undefined
}

/** Tells one client's outages, whichever of its requests meet them. */
export class Outages {
  readonly #origin: string
  readonly #clock: Clock
  readonly #listener: OutageListener
  #sinceMs: number | undefined
  #answeredAtMs = 0
  #longestMs = 0

  constructor(origin: string, clock: Clock, listener: OutageListener) {
    this.#origin = origin
    this.#clock = clock
    this.#listener = listener
  }

  /** Monotonic: when the last answer came. */
  get answeredAtMs(): number {
    return this.#answeredAtMs
  }

  /** How long the slowest answer so far took: slow is not silent. */
  get longestMs(): number {
    return this.#longestMs
  }

  /** An answer came, whatever it said, `afterMs` after it was waited for. */
  recordAnswer(afterMs: number): void {
    this.#answeredAtMs = this.#clock.monotonicMs()
    this.#longestMs = Math.max(this.#longestMs, afterMs)
    if (this.#sinceMs === undefined) return
    this.#sinceMs = undefined
    this.#listener(null)
  }

  /** A try failed and is followed by another one. */
  recordFailure(facts: FailureFacts, { pauseMs, untilMs }: Plan): void {
    const nowMs = this.#clock.nowMs()
    const { code, cause = facts.reason, retryAfterMs, triedForMs = 0 } = facts
    this.#report(nowMs - triedForMs, {
      code,
      cause,
      nextTryAtMs: nowMs + pauseMs,
      untilMs: this.#toWall(untilMs),
      askedUntilMs: retryAfterMs === undefined || retryAfterMs === 0 ? null : nowMs + retryAfterMs,
    })
  }

  /** A try has had no answer for so long. */
  recordSilence(silentMs: number, untilMs: number | undefined): void {
    this.#report(this.#clock.nowMs() - silentMs, {
      code: 'answer-late',
      cause: `no answer yet for ${Math.ceil(silentMs / 1_000)} s`,
      nextTryAtMs: null,
      untilMs: this.#toWall(untilMs),
      askedUntilMs: null,
    })
  }

  #report(beganMs: number, what: Omit<Outage, 'origin' | 'sinceMs'>): void {
    this.#sinceMs ??= beganMs
    this.#listener({ origin: this.#origin, sinceMs: this.#sinceMs, ...what })
  }

  #toWall(monotonicMs: number | undefined): number | null {
    return monotonicMs === undefined ? null : this.#clock.nowMs() + monotonicMs - this.#clock.monotonicMs()
  }
}
