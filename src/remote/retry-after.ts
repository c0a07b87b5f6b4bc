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
  /** The rest of a `Retry-After` that was received earlier. */
  readonly remainingMs?: number
  /** Called for each `Retry-After` that ends later than those before; must not throw. */
  readonly onRetryAfter?: (lengthMs: number) => void
}

/** Knows until when a service asks for no requests. Clients of one service share it, also one after another. */
export class RetryAfter {
  readonly #clock: Clock
  readonly #onRetryAfter: ((lengthMs: number) => void) | undefined
  #endsAtMs: number
  /** The end of the longest one that the service sent to this process. */
  #ownEndsAtMs = 0
  /** Called for each one that the service sends to this process and that ends later than those before. */
  onOwn: (() => void) | undefined

  constructor(clock: Clock, { remainingMs = 0, onRetryAfter }: RetryAfterOptions = {}) {
    this.#clock = clock
    this.#onRetryAfter = onRetryAfter
    this.#endsAtMs = remainingMs > 0 ? clock.monotonicMs() + remainingMs : 0
  }

  /** Monotonic; may have passed. */
  get endsAtMs(): number {
    return this.#endsAtMs
  }

  /** Returns whether it ends after a request's deadline, which is monotonic. */
  isBeyond(deadlineMs: number | undefined): boolean {
    return deadlineMs !== undefined && this.#endsAtMs > deadlineMs
  }

  /** The remaining milliseconds of what the service sent to this process. */
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

  /** Records the same of what it sent to another host. */
  recordElsewhere(lengthMs: number): void {
    const endsAtMs = this.#clock.monotonicMs() + lengthMs
    if (lengthMs <= 0 || endsAtMs <= this.#endsAtMs) return
    this.#endsAtMs = endsAtMs
    this.#onRetryAfter?.(lengthMs)
  }
}

/** A longer `Retry-After` is more likely a mistake; one answer must not stop the program for ever. */
const MAX_KEPT_MS = 7 * DAY_MS

/** Returns the remaining time of the `Retry-After` that the service at `origin` sent to another process. */
export function recallRetryAfter(memory: Pick<Memory, 'get'>, origin: string, clock: Clock): RetryAfter {
  return new RetryAfter(clock, { remainingMs: readRemainingMs(memory, origin, clock) })
}

/** Returns the same, and keeps each further `Retry-After` of the service for later processes. */
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

/** Returns 0 if the clock puts the start in the future. */
function readRemainingMs(memory: Pick<Memory, 'get'>, origin: string, clock: Clock): number {
  const [, askedAtMs, lengthMs] = /^(\d+) (\d+)$/.exec(memory.get(keyOf(origin)) ?? '') ?? []
  const passedMs = clock.nowMs() - Number(askedAtMs)
  return askedAtMs === undefined || passedMs < 0 ? 0 : Math.max(0, Number(lengthMs) - passedMs)
}

/** All three date forms of RFC 9110; the oldest one omits GMT. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d\d:\d\d:\d\d(?: \d{4}| GMT)$/

/** A century: what ends later is the same to this program, and no date of JavaScript and no number of a ledger may hold its end. */
const MAX_WAIT_MS = 36_525 * DAY_MS

/** Returns the value of a `Retry-After` header (seconds or an HTTP date) as milliseconds from `nowMs`, a century at most; undefined: neither. */
export function parseRetryAfterMs(value: string | undefined, nowMs: number): number | undefined {
  const trimmed = value?.trim() ?? ''
  if (/^\d+$/.test(trimmed)) return Math.min(MAX_WAIT_MS, Number(trimmed) * 1_000)
  if (!HTTP_DATE.test(trimmed)) return undefined
  const dateMs = Date.parse(trimmed.endsWith('GMT') ? trimmed : `${trimmed} GMT`)
  return Number.isNaN(dateMs) ? undefined : Math.min(MAX_WAIT_MS, Math.max(0, dateMs - nowMs))
}

/** Returns whether a `Retry-After` of now ends after a request's deadline, which is monotonic. */
export function asksBeyond(retryAfterMs: number | undefined, deadlineMs: number | undefined, clock: Clock): boolean {
  return deadlineMs !== undefined && retryAfterMs !== undefined && clock.monotonicMs() + retryAfterMs > deadlineMs
}

/** Messages omit a later time. */
const MAX_NAMED_MS = 365 * DAY_MS

/** Returns until when the service asks to wait, as people read it; undefined if it does not ask. */
export function describeRetryAfter(retryAfterMs: number | undefined, nowMs: number): string | undefined {
  if (retryAfterMs === undefined || retryAfterMs === 0 || retryAfterMs > MAX_NAMED_MS) return undefined
  return timeOfDay(nowMs + retryAfterMs, nowMs)
}
