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

/** For requests whose user waits for the answer: a few short retries. */
export const INTERACTIVE_RETRY: RetryPolicy = {
  attempts: 4,
  firstDelayMs: 250,
  maxDelayMs: 5_000,
  forMs: 60_000,
  longestRetryAfterMs: 60_000,
}

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

/**
 * Returns how long after failed try number `attempt` the last counted one fails at the latest, if each takes `triedForMs`. The next
 * one begins after `delayMs`. Infinity where tries are not counted.
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

/** Overdue resources are polled this many times less often. */
const OVERDUE_FACTOR = 20

/** The delay before poll number `polls + 1` of a resource: grows by half each time up to `maxPollMs`, with jitter. */
export function pollIntervalMs(
  { polls, isOverdue }: { readonly polls: number; readonly isOverdue: boolean },
  { firstPollMs, maxPollMs }: Omit<PollIntervals, 'deadlineMs'>,
  random: number,
): number {
  const grown = Math.min(maxPollMs, firstPollMs * 1.5 ** Math.min(polls, 64))
  return grown * (0.9 + 0.2 * random) * (isOverdue ? OVERDUE_FACTOR : 1)
}

const FIRST_QUARANTINE_MS = 25_000
const LONGEST_QUARANTINE_MS = DAY_MS

/** The service will refuse the same bytes again, so the longest duration applies at once. */
const HOPELESS: ReadonlySet<string> = new Set(['too-large'])

/** Returns how long a failed content stays in quarantine: 25 s, growing fivefold, up to a day; a day at once if nothing else can help. */
export function quarantineDurationMs(refusals: number, code: string): number {
  if (HOPELESS.has(code)) return LONGEST_QUARANTINE_MS
  return Math.min(LONGEST_QUARANTINE_MS, FIRST_QUARANTINE_MS * 5 ** Math.max(0, refusals))
}

/**
 * The earliest and the latest end of a quarantine that is running at `nowMs` (wall clock). A later end was recorded while
 * the clock was wrong, and the quarantine counts as over (P20).
 */
export function quarantineEnds(nowMs: number): readonly [number, number] {
  return [nowMs + 1, nowMs + LONGEST_QUARANTINE_MS]
}

/** Milliseconds of a quarantine left at `nowMs`; 0 when the content is due. */
export function quarantineLeftMs(retryAt: number | null, nowMs: number): number {
  const [first, last] = quarantineEnds(nowMs)
  return retryAt !== null && retryAt >= first && retryAt <= last ? retryAt - nowMs : 0
}
