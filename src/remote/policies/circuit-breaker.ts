import type { Clock, Random } from '../../foundation/clock.ts'
import type { Logger } from '../../foundation/logger.ts'
import { longestDelayMs, type RetryPolicy, retryDelayMs } from '../../rules/retry-delay.ts'
import type { RetryAfter } from '../retry-after.ts'
import type { Send, ServiceRequest } from '../wire/request.ts'
import { type FailureDetails, TransientFailure } from '../wire/transient-failure.ts'
import type { Outages } from './outage.ts'
import { sleepFor } from './retry.ts'

/**
 * Returns a policy that sends all requests of a client through one circuit breaker. `Retry-After` and 429 open it for all of them for a
 * time. While the service cannot be reached, the breaker is half open: one request probes, and the others share the probe's result.
 */
export function withCircuitBreaker(send: Send, breaker: CircuitBreaker): Send {
  return async (original) => {
    const request = breaker.withDeadline(original)
    const admitted = breaker.isClosed ? request : await breaker.admit(request)
    const trips = breaker.trips
    try {
      const result = await send(admitted)
      breaker.recordSuccess()
      return result
    } catch (error) {
      breaker.recordFailure(error, trips)
      throw error
    } finally {
      if (admitted !== request) breaker.endProbe(undefined)
    }
  }
}

interface BreakerOptions {
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly policy: RetryPolicy
  /** The latest `Retry-After` that the service sent, to this client or to another one. */
  readonly retryAfter: RetryAfter
  readonly outages: Outages | undefined
}

/** Closed (requests pass), open until a time, or half open (one request probes); see withCircuitBreaker. */
export class CircuitBreaker {
  /** How often the breaker opened. A request sent before it last opened does not lengthen the next delay. */
  trips = 0
  readonly #options: BreakerOptions
  #openUntilMs = 0
  /** The end of the longest `Retry-After` that this client has reported to `outages`. */
  #announcedUntilMs = 0
  #consecutiveTrips = 0
  #unreachable = false
  #probe: PromiseWithResolvers<FailureDetails | undefined> | undefined

  constructor(options: BreakerOptions) {
    this.#options = options
  }

  /** Returns until when a request with this deadline must wait (monotonic). A `Retry-After` counts even after the deadline. */
  openUntilMs(deadlineMs = Number.POSITIVE_INFINITY): number {
    return Math.max(this.#options.retryAfter.endsAtMs, Math.min(this.#openUntilMs, deadlineMs))
  }

  /** Sets the deadline of a request before it waits here, so that the wait counts. */
  withDeadline<T>(request: ServiceRequest<T>): ServiceRequest<T> {
    const { policy, clock } = this.#options
    if (policy.forMs === undefined || policy.waitsOutRetryAfter || request.deadlineMs !== undefined) return request
    return { ...request, deadlineMs: clock.monotonicMs() + policy.forMs }
  }

  get isClosed(): boolean {
    return !this.#unreachable && this.openUntilMs() <= this.#options.clock.monotonicMs()
  }

  /** Waits while the breaker is open. Returns `request`, or a probe of it if the breaker is half open and has no probe. */
  async admit<T>(request: ServiceRequest<T>): Promise<ServiceRequest<T>> {
    for (;;) {
      await this.#waitWhileOpen(request)
      if (!this.#unreachable) return request
      if (!this.#probe) return this.#asProbe(request)
      const details = await this.#probe.promise
      if (details) throw new TransientFailure({ ...details, mayHaveTakenEffect: false, deadlineMs: request.deadlineMs })
    }
  }

  recordSuccess(): void {
    this.#consecutiveTrips = 0
    this.#unreachable = false
  }

  recordFailure(error: unknown, trips: number): void {
    if (!(error instanceof TransientFailure)) return
    const { details } = error
    this.#unreachable = !details.connected
    if (details.connected && details.code !== 'service-throttling' && details.retryAfterMs === undefined) return
    if (trips === this.trips) {
      this.trips += 1
      this.#consecutiveTrips += 1
    }
    this.#open(details.retryAfterMs)
    if (!details.connected) this.endProbe(details)
  }

  endProbe(details: FailureDetails | undefined): void {
    this.#probe?.resolve(details)
    this.#probe = undefined
  }

  async #waitWhileOpen(request: ServiceRequest<unknown>): Promise<void> {
    const { clock, policy, retryAfter } = this.#options
    const { deadlineMs } = request
    const openUntilMs = () => this.openUntilMs(deadlineMs)
    for (let waitedUntilMs = 0; openUntilMs() > waitedUntilMs; ) {
      waitedUntilMs = openUntilMs()
      const remainingMs = Math.ceil(waitedUntilMs - clock.monotonicMs())
      const isTooLong = !policy.waitsOutRetryAfter && retryAfter.isBeyond(deadlineMs)
      if (isTooLong || remainingMs > longestDelayMs(policy)) throw throttled(remainingMs, deadlineMs)
      if (remainingMs <= 0) continue
      this.#announceRetryAfter(deadlineMs)
      await sleepFor(clock, remainingMs, request)
    }
  }

  /** Reports a `Retry-After` that another client or an earlier process received. */
  #announceRetryAfter(deadlineMs: number | undefined): void {
    const { retryAfter, clock, outages } = this.#options
    const delayMs = retryAfter.endsAtMs - clock.monotonicMs()
    if (delayMs <= 0 || retryAfter.endsAtMs <= this.#announcedUntilMs) return
    this.#announcedUntilMs = retryAfter.endsAtMs
    outages?.recordFailure(
      { ...throttled(delayMs, deadlineMs).details, cause: 'in its answer to an earlier request' },
      { delayMs, deadlineMs },
    )
  }

  /** Makes a request the probe: the others wait until it has a connection or has failed. */
  #asProbe<T>(request: ServiceRequest<T>): ServiceRequest<T> {
    this.#probe = Promise.withResolvers()
    const onStart = () => {
      this.#unreachable = false
      this.endProbe(undefined)
    }
    return { ...request, onStart }
  }

  #open(retryAfterMs: number | undefined): void {
    const { policy, random, clock, logger, retryAfter } = this.#options
    const delayMs = retryDelayMs(Math.max(1, this.#consecutiveTrips), policy, random(), retryAfterMs)
    const nowMs = clock.monotonicMs()
    this.#openUntilMs = Math.max(this.#openUntilMs, nowMs + delayMs)
    if (retryAfterMs !== undefined) {
      retryAfter.record(retryAfterMs)
      this.#announcedUntilMs = retryAfter.endsAtMs
    }
    logger.debug('the service is busy or away: every request waits', { delayMs: Math.round(delayMs) })
  }
}

function throttled(retryAfterMs: number, deadlineMs: number | undefined): TransientFailure {
  const reason = 'the service asked to wait longer than this command may wait'
  const state = { mayHaveTakenEffect: false, connected: true, retryAfterMs, deadlineMs }
  return new TransientFailure({ ...state, code: 'service-throttling', reason })
}
