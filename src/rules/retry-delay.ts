import { DAY_MS } from '../foundation/text/times.ts'

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
  /** For callers without a waiting user: waits as long as `Retry-After` asks, which counts neither in `forMs` nor as a try. */
  readonly waitsOutRetryAfter?: boolean
  /** A longer delay than this fails the request; a day by default. */
  readonly longestRetryAfterMs?: number
}

/** The policy of requests to a service. The configuration sets `forMs` (`limits.retryFor`). */
export const DEFAULT_RETRY: RetryPolicy = { attempts: 8, firstDelayMs: 500, maxDelayMs: 30_000, forMs: 120_000 }

/**
 * The delay after failed try number `attempt` (from 1). Half of the growing part is jitter, so that clients that failed
 * together don't return together; `random` is in [0, 1). Never less than `retryAfterMs`.
 */
export function retryDelayMs(attempt: number, policy: RetryPolicy, random: number, retryAfterMs = 0): number {
  const halfMs = Math.min(policy.maxDelayMs, policy.firstDelayMs * 2 ** (attempt - 1)) / 2
  return Math.max(retryAfterMs, halfMs) + halfMs * random
}

/** Returns the longest delay before a try: if the service asks for more, the request fails and its caller returns another time. */
export function longestDelayMs({ longestRetryAfterMs = DAY_MS }: RetryPolicy): number {
  return longestRetryAfterMs
}
