/** Everything about `Retry-After`, by which a service asks for no requests for a time: how it is parsed, shared, kept and compared. */
import type { Clock } from '../foundation/clock.ts'
import { ShelfdError } from '../foundation/errors.ts'
import type { Logger } from '../foundation/logger.ts'
import { DAY_MS, timeOfDay } from '../foundation/text/times.ts'

/** Keeps values for later processes; `set` may throw ShelfdError. */
export interface Memory {
  readonly get: (key: string) => string | undefined
  readonly set: (key: string, value: string) => void
}

interface RetryAfterOptions {
  /** The remaining time of a `Retry-After` that was received earlier. */
  readonly remainingMs?: number
  /** Called for each `Retry-After` that ends later than all earlier ones; must not throw. */
  readonly onRetryAfter?: (lengthMs: number) => void
}

/** Until when a service asks for no requests. All clients of the service in a process share one object, later ones as well. */
export class RetryAfter {
  readonly #clock: Clock
  readonly #onRetryAfter: ((lengthMs: number) => void) | undefined
  #endsAtMs: number
  /** The end of the longest `Retry-After` that the service sent to this process; 0: none. */
  #ownEndsAtMs = 0
  /** Called when the service sends this process a `Retry-After` that ends later than its earlier ones. */
  onOwn: (() => void) | undefined

  constructor(clock: Clock, { remainingMs = 0, onRetryAfter }: RetryAfterOptions = {}) {
    this.#clock = clock
    this.#onRetryAfter = onRetryAfter
    this.#endsAtMs = remainingMs > 0 ? clock.monotonicMs() + remainingMs : 0
  }

  /** Until when no request may be sent (monotonic); the time may have passed. */
  get endsAtMs(): number {
    return this.#endsAtMs
  }

  /** Returns whether the service asks to wait until after a request's deadline (monotonic). */
  isBeyond(deadlineMs: number | undefined): boolean {
    return deadlineMs !== undefined && this.#endsAtMs > deadlineMs
  }

  /** The remaining time of the longest `Retry-After` that the service sent to this process. */
  get ownLeftMs(): number {
    return Math.max(0, this.#ownEndsAtMs - this.#clock.monotonicMs())
  }

  /** Records that the service asks for no requests for `lengthMs` from now. */
  record(lengthMs: number): void {
    const endsAtMs = this.#clock.monotonicMs() + lengthMs
    const isLonger = lengthMs > 0 && endsAtMs > this.#ownEndsAtMs
    if (isLonger) this.#ownEndsAtMs = endsAtMs
    this.recordElsewhere(lengthMs)
    if (isLonger) this.onOwn?.()
  }

  /** Records that the service asks another host for no requests for `lengthMs` from now. */
  recordElsewhere(lengthMs: number): void {
    const endsAtMs = this.#clock.monotonicMs() + lengthMs
    if (lengthMs <= 0 || endsAtMs <= this.#endsAtMs) return
    this.#endsAtMs = endsAtMs
    this.#onRetryAfter?.(lengthMs)
  }
}

/** How much of a `Retry-After` later processes honour: a longer one is more likely a mistake, and must not stop shelfd for ever. */
const MAX_KEPT_MS = 7 * DAY_MS

/** Returns a RetryAfter with the remaining time of the one that another process recorded for the service at `origin`. */
export function recallRetryAfter(memory: Pick<Memory, 'get'>, origin: string, clock: Clock): RetryAfter {
  return new RetryAfter(clock, { remainingMs: readRemainingMs(memory, origin, clock) })
}

/** Like `recallRetryAfter`, but the result also records each further `Retry-After` for later processes. */
export function keepRetryAfter(memory: Memory, origin: string, clock: Clock, logger: Logger): RetryAfter {
  const onRetryAfter = (lengthMs: number) => {
    const keptMs = Math.min(Math.round(lengthMs), MAX_KEPT_MS)
    try {
      memory.set(keyOf(origin), `${clock.nowMs()} ${keptMs}`)
    } catch (error) {
      if (!(error instanceof ShelfdError)) throw error
      // This process still waits as asked, and a store that cannot be written must not fail the request.
      logger.warn('Cannot record how long the service asked to wait; after a restart, requests begin at once', {
        code: error.code,
        reason: error.message,
      })
    }
  }
  return new RetryAfter(clock, { remainingMs: readRemainingMs(memory, origin, clock), onRetryAfter })
}

function keyOf(origin: string): string {
  return `retry-after:${origin}`
}

/** Returns the recorded remaining time; 0 if none is recorded, or if by the clock it begins in the future. */
function readRemainingMs(memory: Pick<Memory, 'get'>, origin: string, clock: Clock): number {
  const [, askedAtMs, lengthMs] = /^(\d+) (\d+)$/.exec(memory.get(keyOf(origin)) ?? '') ?? []
  const passedMs = clock.nowMs() - Number(askedAtMs)
  return askedAtMs === undefined || passedMs < 0 ? 0 : Math.max(0, Number(lengthMs) - passedMs)
}

/** All three date forms of RFC 9110; the oldest one omits GMT. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d\d:\d\d:\d\d(?: \d{4}| GMT)$/

/** A century. Longer waits are shortened to it, because dates in JavaScript and numbers in a ledger cannot hold every later time. */
const MAX_WAIT_MS = 36_525 * DAY_MS

/** Returns the value of a `Retry-After` header (seconds or an HTTP date) as milliseconds from `nowMs`, a century at most; undefined: neither. */
export function parseRetryAfterMs(value: string | undefined, nowMs: number): number | undefined {
  const trimmed = value?.trim() ?? ''
  if (/^\d+$/.test(trimmed)) return Math.min(MAX_WAIT_MS, Number(trimmed) * 1_000)
  if (!HTTP_DATE.test(trimmed)) return undefined
  const dateMs = Date.parse(trimmed.endsWith('GMT') ? trimmed : `${trimmed} GMT`)
  return Number.isNaN(dateMs) ? undefined : Math.min(MAX_WAIT_MS, Math.max(0, dateMs - nowMs))
}

/** Returns whether a `Retry-After` that begins now ends after a request's deadline (monotonic). */
export function asksBeyond(retryAfterMs: number | undefined, deadlineMs: number | undefined, clock: Clock): boolean {
  return deadlineMs !== undefined && retryAfterMs !== undefined && clock.monotonicMs() + retryAfterMs > deadlineMs
}

/** Messages do not name a time that is further away. */
const MAX_NAMED_MS = 365 * DAY_MS

/** Returns until when the service asks to wait, as people read it; undefined if it does not ask, or for more than a year. */
export function describeRetryAfter(retryAfterMs: number | undefined, nowMs: number): string | undefined {
  if (retryAfterMs === undefined || retryAfterMs === 0 || retryAfterMs > MAX_NAMED_MS) return undefined
  return timeOfDay(nowMs + retryAfterMs, nowMs)
}
