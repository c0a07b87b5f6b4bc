import type { Clock, Random } from '../foundation/clock.ts'
import type { Logger } from '../foundation/logger.ts'
import { timeOfDay } from '../foundation/time-of-day.ts'
import { longestPauseMs, type RetryPolicy, retryPauseMs } from '../rules/retry-pause.ts'
import { addressOf } from './addresses.ts'
import { finalError, interruptIfAborted, interruption, Setback, type SetbackFacts } from './failures.ts'
import type { Outages } from './outage.ts'
import type { Send, ServiceRequest } from './request.ts'

export interface Pausing {
  readonly origin: string
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly policy: RetryPolicy
  /** Is told of each failed try that is followed by another. */
  readonly outages: Outages | undefined
  /** Monotonic: until when a request waits whose time ends at `untilMs`. */
  readonly openAtMs: (untilMs: number | undefined) => number
}

/** A year: what lies beyond is no time to be told. */
const LONGEST_TOLD_MS = 365 * 24 * 3_600_000

/** Tries again, with growing pauses and a bound, what another try may mend; what may have been done once is not done twice. */
export function withRetries(send: Send, pausing: Pausing): Send {
  return async (request) => {
    // When no further try begins; known from the first failure on.
    let untilMs: number | undefined
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await send(untilMs === undefined ? request : { ...request, untilMs })
      } catch (error) {
        if (!(error instanceof Setback)) throw error
        const { facts } = error
        untilMs = endOf(untilMs, facts, pausing)
        const pauseMs = pauseBefore(untilMs, attempt, facts, pausing)
        const asksForMore = isAskedBeyond(untilMs, facts, pausing)
        if (asksForMore || isLast(attempt, facts, { pauseMs, untilMs }, pausing) || !mayRepeat(request, facts)) {
          throw finalError(request, facts, {
            tries: attempt,
            origin: pausing.origin,
            waitUntil: askedFor(facts, pausing),
            limit: asksForMore ? pausing.policy.forWords : undefined,
          })
        }
        pausing.logger.debug('a request is tried again', {
          route: addressOf(request.target).name,
          attempt,
          pauseMs,
          ...facts,
        })
        pausing.outages?.noteFailure(facts, { pauseMs: untilGateOpens(pauseMs, untilMs, pausing), untilMs })
        await pause(pausing.clock, pauseMs, request)
      }
    }
  }
}

/** The first deadline stays; only who waits as asked isn't charged for it. */
function endOf(untilMs: number | undefined, facts: SetbackFacts, { clock, policy }: Pausing): number | undefined {
  if (policy.forMs === undefined) return undefined
  const firstMs = untilMs ?? facts.untilMs ?? clock.monotonicMs() - (facts.triedForMs ?? 0) + policy.forMs
  return firstMs + (policy.waitsAsAsked ? (facts.retryAfterMs ?? 0) : 0)
}

/** The service wants no request before the time of this one is over. */
function isAskedBeyond(untilMs: number | undefined, { retryAfterMs }: SetbackFacts, { clock }: Pausing): boolean {
  return untilMs !== undefined && retryAfterMs !== undefined && clock.monotonicMs() + retryAfterMs > untilMs
}

interface NextTry {
  readonly pauseMs: number
  readonly untilMs: number | undefined
}

function isLast(
  attempt: number,
  { retryAfterMs }: SetbackFacts,
  { pauseMs, untilMs }: NextTry,
  { policy, clock }: Pausing,
): boolean {
  const isCounted = !(policy.waitsAsAsked && retryAfterMs !== undefined)
  if ((isCounted && attempt >= policy.attempts) || pauseMs > longestPauseMs(policy)) return true
  return untilMs !== undefined && clock.monotonicMs() >= untilMs
}

/** The last try is at the very end. */
function pauseBefore(
  untilMs: number | undefined,
  attempt: number,
  { retryAfterMs }: SetbackFacts,
  { clock, policy, random }: Pausing,
): number {
  const pauseMs = retryPauseMs(attempt, policy, random(), retryAfterMs)
  if (untilMs === undefined) return pauseMs
  return Math.max(retryAfterMs ?? 0, Math.min(pauseMs, untilMs - clock.monotonicMs()))
}

function untilGateOpens(pauseMs: number, untilMs: number | undefined, { openAtMs, clock }: Pausing): number {
  return Math.max(pauseMs, openAtMs(untilMs) - clock.monotonicMs())
}

function askedFor({ retryAfterMs }: SetbackFacts, { clock }: Pausing): string | undefined {
  if (retryAfterMs === undefined || retryAfterMs === 0 || retryAfterMs > LONGEST_TOLD_MS) return undefined
  const nowMs = clock.nowMs()
  return timeOfDay(nowMs + retryAfterMs, nowMs)
}

/** Sleeps until it is over or `request` is aborted, which throws InterruptedError. */
export async function pause(clock: Clock, durationMs: number, request: ServiceRequest<unknown>): Promise<void> {
  try {
    await clock.sleep(durationMs, request.signal)
  } catch {
    throw interruption(request, false)
  }
  interruptIfAborted(request)
}

function mayRepeat(request: ServiceRequest<unknown>, facts: SetbackFacts): boolean {
  return !facts.final && (request.repeat === 'always' || !facts.mayBeDone)
}
