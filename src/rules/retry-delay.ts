import { DAY_MS } from '../foundation/text/times.ts'

/** Growing delays with jitter; `Retry-After` is a lower bound. An upload that may have arrived is not retried (doubts.ts). */
export interface RetryPolicy {
  /** Includes the first try. */
  readonly attempts: number
  readonly firstDelayMs: number
  readonly maxDelayMs: number
  /** No later try begins after this time; a longer `Retry-After` fails the request at once. */
  readonly forMs?: number
  /** The setting behind `forMs`, for messages. */
  readonly forWords?: string
  /** No user waits for the answer, so the time of a `Retry-After` does not count in `forMs`, and its try is not counted. */
  readonly waitsOutRetryAfter?: boolean
  /** A longer `Retry-After` fails the request; a day by default. */
  readonly longestRetryAfterMs?: number
}

/** The configuration sets `forMs` (`limits.retryFor`). */
export const DEFAULT_RETRY: RetryPolicy = { attempts: 8, firstDelayMs: 500, maxDelayMs: 30_000, forMs: 120_000 }

/** For requests whose answer a user waits for. */
export const INTERACTIVE_RETRY: RetryPolicy = {
  attempts: 4,
  firstDelayMs: 250,
  maxDelayMs: 5_000,
  forMs: 60_000,
  longestRetryAfterMs: 60_000,
}

/**
 * Returns the delay after the failed try number `attempt` (from 1), at least `retryAfterMs`. Half of the growing part is jitter; `random`
 * is in [0, 1).
 */
export function retryDelayMs(attempt: number, policy: RetryPolicy, random: number, retryAfterMs = 0): number {
  const halfMs = Math.min(policy.maxDelayMs, policy.firstDelayMs * 2 ** (attempt - 1)) / 2
  return Math.max(retryAfterMs, halfMs) + halfMs * random
}

/** Returns the longest `Retry-After` that is waited for; a request fails if the service asks for more. */
export function longestDelayMs({ longestRetryAfterMs = DAY_MS }: RetryPolicy): number {
  return longestRetryAfterMs
}

/** Returns when the last try fails at the latest, if the next begins after `delayMs` and each takes `triedForMs`; may be Infinity. */
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

/** Polls of an overdue resource are rarer by this factor. */
const OVERDUE_FACTOR = 20

/** Returns an interval that grows by half with each poll up to `maxPollMs`, with jitter. `random` is in [0, 1). */
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

/** With these codes the service will refuse the same bytes again. */
const PERMANENT_CODES: ReadonlySet<string> = new Set(['too-large'])

/** Returns 25 s, five times as much after each further refusal, up to a day; a day at once for PERMANENT_CODES. */
export function quarantineDurationMs(refusals: number, code: string): number {
  if (PERMANENT_CODES.has(code)) return MAX_QUARANTINE_MS
  return Math.min(MAX_QUARANTINE_MS, FIRST_QUARANTINE_MS * 5 ** Math.max(0, refusals))
}

/**
 * Returns the first and the last time at which a running quarantine can end. A later end was recorded while the clock was wrong, and such
 * a quarantine counts as over (P20, clocks).
 */
export function quarantineEnds(nowMs: number): readonly [number, number] {
  return [nowMs + 1, nowMs + MAX_QUARANTINE_MS]
}

/** Returns the remaining time of a quarantine; 0 when the content is due. */
export function quarantineLeftMs(retryAt: number | null, nowMs: number): number {
  const [first, last] = quarantineEnds(nowMs)
  return retryAt !== null && retryAt >= first && retryAt <= last ? retryAt - nowMs : 0
}
