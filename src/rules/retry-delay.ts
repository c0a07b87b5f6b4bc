/** When to try again: growing pauses with jitter; what the service asks for in `Retry-After` is a lower bound. */
export interface RetryPolicy {
  /** Tries in all, the first one included. */
  readonly attempts: number
  readonly firstDelayMs: number
  readonly maxDelayMs: number
  /** After so long, counted from the first try, no further one begins; a service that asks for more in `Retry-After` is given up at once. */
  readonly forMs?: number
  /** What sets `forMs`, for messages: `--retry-for 5s`. */
  readonly forWords?: string
  /** Nobody waits for the end: what the service asks for in `Retry-After` is waited for, and counts neither in `forMs` nor as a try. */
  readonly honoursRetryAfter?: boolean
  /** A longer pause than this is not waited for; LONGEST_PAUSE_MS if not said. */
  readonly longestRetryAfterMs?: number
}

/**
 * The pause after the failed try number `attempt` (from 1). Half of the growing part is jitter, so that those who failed
 * together don't return together; `random` is in [0, 1). Never less than `retryAfterMs`.
 */
export function retryDelayMs(attempt: number, policy: RetryPolicy, random: number, retryAfterMs = 0): number {
  const halfMs = Math.min(policy.maxDelayMs, policy.firstDelayMs * 2 ** (attempt - 1)) / 2
  return Math.max(retryAfterMs, halfMs) + halfMs * random
}

/** A service that asks for more is left alone: the caller comes back another time. */
const LONGEST_PAUSE_MS = 24 * 3_600_000

export function longestDelayMs({ longestRetryAfterMs = LONGEST_PAUSE_MS }: RetryPolicy): number {
  return longestRetryAfterMs
}

/** Longer than this is more likely a mistake than a wish, and nobody should have to wait for ever because of one answer. */
const LONGEST_KEPT_MS = 7 * 24 * 3_600_000

/** How much of a pause that the service asks for also holds for the processes that follow. */
export function keptRetryAfterMs(lengthMs: number): number {
  return Math.min(Math.round(lengthMs), LONGEST_KEPT_MS)
}

/** A pause that the service asked another process for. */
export interface EarlierRetryAfter {
  /** Wall clock. */
  readonly askedAtMs: number
  readonly lengthMs: number
}

/** What is left of it: never more than its length, and nothing when the clock says that it was asked for in the future. */
export function remainingRetryAfterMs({ askedAtMs, lengthMs }: EarlierRetryAfter, nowMs: number): number {
  return nowMs < askedAtMs ? 0 : Math.max(0, askedAtMs + lengthMs - nowMs)
}

/** All three forms of RFC 9110; the oldest doesn't say that it is GMT. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d\d:\d\d:\d\d(?: \d{4}| GMT)$/

/** The value of a `Retry-After` header (seconds or an HTTP date) as milliseconds from `nowMs`; undefined: it says nothing. */
export function parseRetryAfterMs(value: string | undefined, nowMs: number): number | undefined {
  const trimmed = value?.trim() ?? ''
  if (/^\d+$/.test(trimmed)) return Number(trimmed) * 1_000
  if (!HTTP_DATE.test(trimmed)) return undefined
  const dateMs = Date.parse(trimmed.endsWith('GMT') ? trimmed : `${trimmed} GMT`)
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs)
}
