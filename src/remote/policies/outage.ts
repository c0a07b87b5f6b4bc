import { z } from 'zod'
import type { Clock } from '../../foundation/clock.ts'
import { serviceFailureCodes } from '../../foundation/errors.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import { timeOfDay } from '../../foundation/text/times.ts'
import type { FailureDetails } from '../wire/transient-failure.ts'

/** An outage: the service gives no usable answers now. Times are wall clock. */
export const outageShape = z.object({
  origin: z.string(),
  code: z.enum(serviceFailureCodes),
  /** In few words, for parentheses: `connection refused`. */
  cause: z.string(),
  /** When the first try that failed, or has no answer yet, began. */
  sinceMs: z.number(),
  /** Null while a try is in flight. */
  nextTryAtMs: z.number().nullable(),
  /** When the client gives up; null if a number of tries ends first. */
  givesUpAtMs: z.number().nullable(),
  /** Until when the service asks for no requests (`Retry-After`); null if it does not. */
  askedUntilMs: z.number().nullable(),
})

export type Outage = Readonly<z.infer<typeof outageShape>>

/** Receives an outage, again at each failed try, and null once the service answers. */
export type OutageListener = (outage: Outage | null) => void

interface Plan {
  readonly delayMs: number
  /** When the client gives up (monotonic); undefined: a number of tries ends first. */
  readonly deadlineMs: number | undefined
}

/** Reports the outages of one client, over all of its requests. */
export class Outages {
  readonly #origin: string
  readonly #clock: Clock
  readonly #listener: OutageListener
  #sinceMs: number | undefined
  /** The time of the last answer (monotonic). */
  answeredAtMs = 0
  /** The duration of the slowest answer so far: a slow service is not a silent one. */
  longestMs = 0

  constructor(origin: string, clock: Clock, listener: OutageListener) {
    this.#origin = origin
    this.#clock = clock
    this.#listener = listener
  }

  /** Records an answer with any status, `afterMs` after the last activity. This ends an outage. */
  recordResponse(afterMs: number): void {
    this.answeredAtMs = this.#clock.monotonicMs()
    this.longestMs = Math.max(this.longestMs, afterMs)
    if (this.#sinceMs === undefined) return
    this.#sinceMs = undefined
    this.#listener(null)
  }

  /** Records a failed try that will be repeated after `delayMs`. */
  recordFailure(details: FailureDetails, { delayMs, deadlineMs }: Plan): void {
    const nowMs = this.#clock.nowMs()
    const { code, cause = details.reason, retryAfterMs, triedForMs = 0 } = details
    this.#report(nowMs - triedForMs, {
      code,
      cause,
      nextTryAtMs: nowMs + delayMs,
      givesUpAtMs: this.#toWall(deadlineMs),
      askedUntilMs: retryAfterMs === undefined || retryAfterMs === 0 ? null : nowMs + retryAfterMs,
    })
  }

  /** Records that a try has had no answer for `silentMs`. */
  recordStall(silentMs: number, deadlineMs: number | undefined): void {
    this.#report(this.#clock.nowMs() - silentMs, {
      code: 'answer-late',
      cause: `no answer yet for ${Math.ceil(silentMs / 1_000)} s`,
      nextTryAtMs: null,
      givesUpAtMs: this.#toWall(deadlineMs),
      askedUntilMs: null,
    })
  }

  #report(beganMs: number, details: Omit<Outage, 'origin' | 'sinceMs'>): void {
    this.#sinceMs ??= beganMs
    this.#listener({ origin: this.#origin, sinceMs: this.#sinceMs, ...details })
  }

  #toWall(monotonicMs: number | undefined): number | null {
    return monotonicMs === undefined ? null : this.#clock.nowMs() + monotonicMs - this.#clock.monotonicMs()
  }
}

const HEADLINES: Readonly<Record<Outage['code'], string>> = {
  'service-unreachable': 'does not answer',
  'answer-late': 'does not answer',
  'answer-malformed': 'gives no usable answer',
  'service-unavailable': 'cannot answer requests now',
  'service-full': 'has no room left',
  'service-error': 'cannot answer requests now',
  'service-throttling': 'asks for fewer requests',
}

/** Names the service and its fault: `https://library.example.com does not answer (connection refused)`. */
export function describeCause({ origin, code, cause, askedUntilMs }: Outage, nowMs: number): string {
  const asked = askedUntilMs === null ? HEADLINES[code] : `asks to wait until ${timeOfDay(askedUntilMs, nowMs)}`
  return `${origin} ${asked} (${escapeText(cause)})`
}

/** Returns one line: which service does not answer, why, how long shelfd waits, and when it tries again. */
export function describeOutage(outage: Outage, nowMs: number): string {
  return `${describeCause(outage, nowMs)}. ${describePlan(outage, nowMs)}`
}

function describePlan({ givesUpAtMs, nextTryAtMs, askedUntilMs }: Outage, nowMs: number): string {
  const until = givesUpAtMs === null ? 'Trying a few times' : `Trying until ${timeOfDay(givesUpAtMs, nowMs)}`
  if (askedUntilMs !== null) return `${until}.`
  if (nextTryAtMs === null) return `${until}.`
  return `${until}; next try in ${Math.max(1, Math.ceil((nextTryAtMs - nowMs) / 1_000))} s.`
}
