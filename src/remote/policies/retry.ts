import type { Clock, Random } from '../../foundation/clock.ts'
import type { Logger } from '../../foundation/logger.ts'
import { lastTryAfterMs, longestDelayMs, type RetryPolicy, retryDelayMs } from '../../rules/retry-delay.ts'
import { asksBeyond, describeRetryAfter } from '../retry-after.ts'
import { addressOf } from '../wire/addresses.ts'
import type { Send, ServiceRequest } from '../wire/request.ts'
import {
  type FailureDetails,
  finalError,
  interruptIfAborted,
  interruption,
  TransientFailure,
} from '../wire/transient-failure.ts'
import type { Outages } from './outage.ts'

export interface RetryOptions {
  readonly origin: string
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly policy: RetryPolicy
  /** Receives each failed try that is followed by another. */
  readonly outages: Outages | undefined
  /** Returns until when the circuit breaker makes a request with this deadline wait (monotonic). */
  readonly openUntilMs: (deadlineMs: number | undefined) => number
}

/** Returns a policy that retries failed requests after growing delays, but none that must not be carried out twice and may have been. */
export function withRetries(send: Send, options: RetryOptions): Send {
  const { origin, clock, logger, policy, outages } = options
  return async (request) => {
    // No try begins after this time; the first failure sets it.
    let deadlineMs: number | undefined
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await send(deadlineMs === undefined ? request : { ...request, deadlineMs })
      } catch (error) {
        if (!(error instanceof TransientFailure)) throw error
        const { details } = error
        deadlineMs = deadlineOf(deadlineMs, details, options)
        const delayMs = delayBefore(deadlineMs, attempt, details, options)
        const asksForMore = asksBeyond(details.retryAfterMs, deadlineMs, clock)
        if (asksForMore || isLast(attempt, details, { delayMs, deadlineMs }, options) || !mayRepeat(request, details)) {
          throw finalError(request, details, {
            tries: attempt,
            origin,
            waitUntil: describeRetryAfter(details.retryAfterMs, clock.nowMs()),
            limit: asksForMore ? policy.forWords : undefined,
          })
        }
        logger.debug('a failed request is retried', {
          route: addressOf(request.target).name,
          attempt,
          delayMs,
          ...details,
        })
        const closedInMs = options.openUntilMs(deadlineMs) - clock.monotonicMs()
        const plan = { delayMs: Math.max(delayMs, closedInMs), deadlineMs }
        const endsByCount = isEndedByCount(attempt, details, plan, options)
        outages?.recordFailure(details, { ...plan, deadlineMs: endsByCount ? undefined : deadlineMs })
        await sleepFor(clock, delayMs, request)
      }
    }
  }
}

/** Returns the deadline that the first failure set. If the policy waits out a `Retry-After`, this time extends the deadline. */
function deadlineOf(
  deadlineMs: number | undefined,
  details: FailureDetails,
  { clock, policy }: RetryOptions,
): number | undefined {
  if (policy.forMs === undefined) return undefined
  const firstMs = deadlineMs ?? details.deadlineMs ?? clock.monotonicMs() - (details.triedForMs ?? 0) + policy.forMs
  return firstMs + (policy.waitsOutRetryAfter ? (details.retryAfterMs ?? 0) : 0)
}

interface NextTry {
  readonly delayMs: number
  readonly deadlineMs: number | undefined
}

function isLast(
  attempt: number,
  { retryAfterMs }: FailureDetails,
  { delayMs, deadlineMs }: NextTry,
  { policy, clock }: RetryOptions,
): boolean {
  const isCounted = !(policy.waitsOutRetryAfter && retryAfterMs !== undefined)
  if ((isCounted && attempt >= policy.attempts) || delayMs > longestDelayMs(policy)) return true
  return deadlineMs !== undefined && clock.monotonicMs() >= deadlineMs
}

/** Returns whether the last counted try is expected to fail before the deadline. */
function isEndedByCount(
  attempt: number,
  { triedForMs = 0 }: FailureDetails,
  { delayMs, deadlineMs }: NextTry,
  { policy, clock }: RetryOptions,
): boolean {
  if (deadlineMs === undefined) return true
  return clock.monotonicMs() + lastTryAfterMs(attempt, policy, { delayMs, triedForMs }) < deadlineMs
}

/** Returns the delay before the next try; the last try begins at the deadline. */
function delayBefore(
  deadlineMs: number | undefined,
  attempt: number,
  { retryAfterMs }: FailureDetails,
  { clock, policy, random }: RetryOptions,
): number {
  const delayMs = retryDelayMs(attempt, policy, random(), retryAfterMs)
  if (deadlineMs === undefined) return delayMs
  return Math.max(retryAfterMs ?? 0, Math.min(delayMs, deadlineMs - clock.monotonicMs()))
}

/** Sleeps for `durationMs`; throws InterruptedError if `request` is aborted. */
export async function sleepFor(clock: Clock, durationMs: number, request: ServiceRequest<unknown>): Promise<void> {
  try {
    await clock.sleep(durationMs, request.signal)
  } catch {
    throw interruption(request, false)
  }
  interruptIfAborted(request)
}

function mayRepeat(request: ServiceRequest<unknown>, details: FailureDetails): boolean {
  return !details.final && (request.retry === 'always' || !details.mayHaveTakenEffect)
}
