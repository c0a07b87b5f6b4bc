/** When to retry: growing delays with jitter; `Retry-After` of the service is a lower bound. */
export interface RetryPolicy {
  /** Tries in all, the first one included. */
  readonly attempts: number
  readonly firstDelayMs: number
  readonly maxDelayMs: number
  /** No try begins later than this after the first one; a longer `Retry-After` fails the request at once. */
  readonly forMs?: number
  /** The setting behind `forMs`, for messages: `--retry-for 5s`. */
  readonly forWords?: string
  /** For callers without a waiting user: `Retry-After` counts neither in `forMs` nor as a try. */
  readonly honoursRetryAfter?: boolean
  /** A longer delay than this fails the request; LONGEST_DELAY_MS by default. */
  readonly longestRetryAfterMs?: number
}

/** Of requests to a service. The configuration sets `forMs` (`limits.retryFor`). */
export const DEFAULT_RETRY: RetryPolicy = { attempts: 8, firstDelayMs: 500, maxDelayMs: 30_000, forMs: 120_000 }

/**
 * The delay after failed try number `attempt` (from 1). Half of the growing part is jitter, so that clients that failed
 * together don't return together; `random` is in [0, 1). Never less than `retryAfterMs`.
 */
export function retryDelayMs(attempt: number, policy: RetryPolicy, random: number, retryAfterMs = 0): number {
  const halfMs = Math.min(policy.maxDelayMs, policy.firstDelayMs * 2 ** (attempt - 1)) / 2
  return Math.max(retryAfterMs, halfMs) + halfMs * random
}

/** If the service asks for more, the request fails and its caller returns another time. */
const LONGEST_DELAY_MS = 24 * 3_600_000

export function longestDelayMs({ longestRetryAfterMs = LONGEST_DELAY_MS }: RetryPolicy): number {
  return longestRetryAfterMs
}

/** A longer `Retry-After` is more likely a mistake; one answer must not stop the program for ever. */
const LONGEST_KEPT_MS = 7 * 24 * 3_600_000

/** How much of a `Retry-After` later processes observe as well. */
export function keptRetryAfterMs(lengthMs: number): number {
  return Math.min(Math.round(lengthMs), LONGEST_KEPT_MS)
}

/** A `Retry-After` that another process received. */
export interface EarlierRetryAfter {
  /** Wall clock. */
  readonly askedAtMs: number
  readonly lengthMs: number
}

/** Milliseconds left of it, at most its length; 0 when the clock puts its start in the future. */
export function remainingRetryAfterMs({ askedAtMs, lengthMs }: EarlierRetryAfter, nowMs: number): number {
  return nowMs < askedAtMs ? 0 : Math.max(0, askedAtMs + lengthMs - nowMs)
}

/** All three date forms of RFC 9110; the oldest one omits GMT. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d\d:\d\d:\d\d(?: \d{4}| GMT)$/

/** The value of a `Retry-After` header (seconds or an HTTP date) as milliseconds from `nowMs`; undefined: neither. */
export function parseRetryAfterMs(value: string | undefined, nowMs: number): number | undefined {
  const trimmed = value?.trim() ?? ''
  if (/^\d+$/.test(trimmed)) return Number(trimmed) * 1_000
  if (!HTTP_DATE.test(trimmed)) return undefined
  const dateMs = Date.parse(trimmed.endsWith('GMT') ? trimmed : `${trimmed} GMT`)
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs)
}
