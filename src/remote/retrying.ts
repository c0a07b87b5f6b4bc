import type { Clock, Random } from '../foundation/clock.ts'
import type { Logger } from '../foundation/logger.ts'
import { LONGEST_PAUSE_MS, type RetryPolicy, retryPauseMs } from '../rules/retry-pause.ts'
import { addressOf } from './addresses.ts'
import { finalError, interruptIfAborted, interruption, Setback, type SetbackFacts } from './failures.ts'
import type { Send, ServiceRequest } from './request.ts'

export interface Pausing {
  readonly origin: string
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly policy: RetryPolicy
}

/** Tries again, with growing pauses and a bound, what another try may mend; what may have been done once is not done twice. */
export function withRetries(send: Send, pausing: Pausing): Send {
  return async (request) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await send(request)
      } catch (error) {
        if (!(error instanceof Setback)) throw error
        const { facts } = error
        const pauseMs = retryPauseMs(attempt, pausing.policy, pausing.random(), facts.retryAfterMs)
        const last = attempt >= pausing.policy.attempts || pauseMs > LONGEST_PAUSE_MS
        if (last || !mayRepeat(request, facts)) throw finalError(request, facts, attempt, pausing.origin)
        pausing.logger.debug('a request is tried again', {
          route: addressOf(request.target).name,
          attempt,
          pauseMs,
          ...facts,
        })
        await pause(pausing.clock, pauseMs, request)
      }
    }
  }
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
