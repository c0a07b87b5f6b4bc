import { DAY_MS } from '../foundation/text/times.ts'

/** Growing delays with jitter; `Retry-After` is a lower bound. An upload that may have arrived is not retried: doubts.ts has what follows. */
export interface RetryPolicy {
  /** Includes the first try. */
  readonly attempts: number
  readonly firstDelayMs: number
  readonly maxDelayMs: number
  /** No later try begins after this time; a longer `Retry-After` fails the request at once. */
  readonly forMs?: number
  /** The setting behind `forMs`, for messages. */
  readonly forWords?: string
  /** For callers without a waiting user: `Retry-After` counts neither in `forMs` nor as a try. */
  readonly waitsOutRetryAfter?: boolean
  /** A longer `Retry-After` fails the request; a day by default. */
  readonly longestRetryAfterMs?: number
}

/** The configuration sets `forMs` (`limits.retryFor`). */
export const DEFAULT_RETRY: RetryPolicy = { attempts: 8, firstDelayMs: 500, maxDelayMs: 30_000, forMs: 120_000 }

/** A user waits for the answer. */
export const INTERACTIVE_RETRY: RetryPolicy = {
  attempts: 4,
  firstDelayMs: 250,
  maxDelayMs: 5_000,
  forMs: 60_000,
  longestRetryAfterMs: 60_000,
}

/** The delay after failed try `attempt` (from 1), at least `retryAfterMs`. Half of the growing part is jitter; `random` is in [0, 1). */
export function retryDelayMs(attempt: number, policy: RetryPolicy, random: number, retryAfterMs = 0): number {
  const halfMs = Math.min(policy.maxDelayMs, policy.firstDelayMs * 2 ** (attempt - 1)) / 2
  return Math.max(retryAfterMs, halfMs) + halfMs * random
}

/** If the service asks to wait longer, the request fails. */
export function longestDelayMs({ longestRetryAfterMs = DAY_MS }: RetryPolicy): number {
  return longestRetryAfterMs
}

/**
 * The latest time at which the last counted try fails, if each takes `triedForMs` and the next begins after `delayMs`. Infinity where
 * tries are not counted.
 */
export function lastTryAfterMs(
  attempt: number,
  policy: RetryPolicy,
  { delayMs, triedForMs }: { readonly delayMs: number; readonly triedForMs: number },
): number {
  if (!Number.isFinite(policy.attempts)) return Number.POSITIVE_INFINITY
  let afterMs = delayMs + triedForMs
  for (let next = attempt + 1; next < policy.attempts; next += 1) afterMs += retryDelayMs(next, policy, 1) + triedForMs
  return afterMs
}

export interface PollIntervals {
  readonly firstPollMs: number
  readonly maxPollMs: number
  /** A resource that stays pending for longer is overdue. */
  readonly deadlineMs: number
}

const OVERDUE_FACTOR = 20

/** Grows by half each time up to `maxPollMs`, with jitter. */
export function pollIntervalMs(
  { polls, isOverdue }: { readonly polls: number; readonly isOverdue: boolean },
  { firstPollMs, maxPollMs }: Omit<PollIntervals, 'deadlineMs'>,
  random: number,
): number {
  const grown = Math.min(maxPollMs, firstPollMs * 1.5 ** Math.min(polls, 64))
  return grown * (0.9 + 0.2 * random) * (isOverdue ? OVERDUE_FACTOR : 1)
}

const FIRST_QUARANTINE_MS = 25_000
const MAX_QUARANTINE_MS = DAY_MS

/** The service will refuse the same bytes again, so the longest duration applies. */
const HOPELESS: ReadonlySet<string> = new Set(['too-large'])

/** 25 s, growing fivefold up to a day; a day at once for HOPELESS codes. */
export function quarantineDurationMs(refusals: number, code: string): number {
  if (HOPELESS.has(code)) return MAX_QUARANTINE_MS
  return Math.min(MAX_QUARANTINE_MS, FIRST_QUARANTINE_MS * 5 ** Math.max(0, refusals))
}

/** The possible ends. A later one was recorded while the clock was wrong, and the quarantine counts as over (P20, clocks). */
export function quarantineEnds(nowMs: number): readonly [number, number] {
  return [nowMs + 1, nowMs + MAX_QUARANTINE_MS]
}

/** 0 when the content is due. */
export function quarantineLeftMs(retryAt: number | null, nowMs: number): number {
  const [first, last] = quarantineEnds(nowMs)
  return retryAt !== null && retryAt >= first && retryAt <= last ? retryAt - nowMs : 0
}
