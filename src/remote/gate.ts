import type { Clock, Random } from '../foundation/clock.ts'
import type { Logger } from '../foundation/logger.ts'
import { longestPauseMs, type RetryPolicy, retryPauseMs } from '../rules/retry-pause.ts'
import type { AskedPause } from './asked-pause.ts'
import { Setback, type SetbackFacts } from './failures.ts'
import type { Outages } from './outage.ts'
import type { Send, ServiceRequest } from './request.ts'
import { pause } from './retrying.ts'

/**
 * The one gate all requests of a client pass. `Retry-After` and 429 close it for everybody until the pause is over; while the
 * service can't be reached, one request probes and the others share what it finds.
 */
export function withGate(send: Send, gate: Gate): Send {
  return async (given) => {
    const request = gate.withEnd(given)
    const admitted = gate.isOpen ? request : await gate.admit(request)
    const turn = gate.turn
    try {
      const result = await send(admitted)
      gate.noteSuccess()
      return result
    } catch (error) {
      gate.noteFailure(error, turn)
      throw error
    } finally {
      if (admitted !== request) gate.endProbe(undefined)
    }
  }
}

interface GatePausing {
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly policy: RetryPolicy
  /** What the service asks for in `Retry-After`, of this client or another one. */
  readonly asked: AskedPause
  readonly outages: Outages | undefined
}

/** Open, or closed until a time; see withGate. */
export class Gate {
  /** Counts closures: what was sent before a closure doesn't make the next pause longer. */
  turn = 0
  readonly #pausing: GatePausing
  #openAtMs = 0
  /** Until when this client knows, and has told, that the service wants no request. */
  #toldUntilMs = 0
  #strikes = 0
  #unreachable = false
  #probe: PromiseWithResolvers<SetbackFacts | undefined> | undefined

  constructor(pausing: GatePausing) {
    this.#pausing = pausing
  }

  /** Monotonic: until when a request waits whose time ends at `untilMs`; what the service asked for is waited for all the same. */
  openAtMs(untilMs = Number.POSITIVE_INFINITY): number {
    return Math.max(this.#pausing.asked.untilMs, Math.min(this.#openAtMs, untilMs))
  }

  /** Time in front of the gate counts: the end of a request is known before. */
  withEnd<T>(request: ServiceRequest<T>): ServiceRequest<T> {
    const { policy, clock } = this.#pausing
    if (policy.forMs === undefined || policy.waitsAsAsked || request.untilMs !== undefined) return request
    return { ...request, untilMs: clock.monotonicMs() + policy.forMs }
  }

  get isOpen(): boolean {
    return !this.#unreachable && this.openAtMs() <= this.#pausing.clock.monotonicMs()
  }

  /** Waits for the gate; gives `request` back, or a probe made of it when nobody else is finding out whether the service is there. */
  async admit<T>(request: ServiceRequest<T>): Promise<ServiceRequest<T>> {
    for (;;) {
      await this.#sitOut(request)
      if (!this.#unreachable) return request
      if (!this.#probe) return this.#probing(request)
      const facts = await this.#probe.promise
      if (facts) throw new Setback({ ...facts, mayBeDone: false, untilMs: request.untilMs })
    }
  }

  noteSuccess(): void {
    this.#strikes = 0
    this.#unreachable = false
  }

  noteFailure(error: unknown, turn: number): void {
    if (!(error instanceof Setback)) return
    const { facts } = error
    this.#unreachable = !facts.reached
    if (facts.reached && facts.code !== 'service-throttling' && facts.retryAfterMs === undefined) return
    if (turn === this.turn) {
      this.turn += 1
      this.#strikes += 1
    }
    this.#close(facts.retryAfterMs)
    if (!facts.reached) this.endProbe(facts)
  }

  endProbe(facts: SetbackFacts | undefined): void {
    this.#probe?.resolve(facts)
    this.#probe = undefined
  }

  async #sitOut(request: ServiceRequest<unknown>): Promise<void> {
    const { clock, policy } = this.#pausing
    const { untilMs } = request
    const openAtMs = () => this.openAtMs(untilMs)
    for (let satOutMs = 0; openAtMs() > satOutMs; ) {
      satOutMs = openAtMs()
      const restMs = Math.ceil(satOutMs - clock.monotonicMs())
      if (restMs > longestPauseMs(policy) || this.#isAskedBeyond(untilMs)) throw throttled(restMs, untilMs)
      if (restMs <= 0) continue
      this.#tellAsked(untilMs)
      await pause(clock, restMs, request)
    }
  }

  /** What another client, or another process, was asked for has not been told by this one. */
  #tellAsked(untilMs: number | undefined): void {
    const { asked, clock, outages } = this.#pausing
    const pauseMs = asked.untilMs - clock.monotonicMs()
    if (pauseMs <= 0 || asked.untilMs <= this.#toldUntilMs) return
    this.#toldUntilMs = asked.untilMs
    outages?.noteFailure({ ...throttled(pauseMs, untilMs).facts, cause: 'it said so before' }, { pauseMs, untilMs })
  }

  #isAskedBeyond(untilMs: number | undefined): boolean {
    return untilMs !== undefined && !this.#pausing.policy.waitsAsAsked && this.#pausing.asked.untilMs > untilMs
  }

  /** The others wait until the probe has a connection or failed. */
  #probing<T>(request: ServiceRequest<T>): ServiceRequest<T> {
    this.#probe = Promise.withResolvers()
    const onStart = () => {
      this.#unreachable = false
      this.endProbe(undefined)
    }
    return { ...request, onStart }
  }

  #close(retryAfterMs: number | undefined): void {
    const { policy, random, clock, logger, asked } = this.#pausing
    const pauseMs = retryPauseMs(Math.max(1, this.#strikes), policy, random(), retryAfterMs)
    const nowMs = clock.monotonicMs()
    this.#openAtMs = Math.max(this.#openAtMs, nowMs + pauseMs)
    if (retryAfterMs !== undefined) {
      asked.note(retryAfterMs)
      this.#toldUntilMs = asked.untilMs
    }
    logger.debug('the service is busy or away, all requests pause', { pauseMs: Math.round(pauseMs) })
  }
}

function throttled(retryAfterMs: number, untilMs: number | undefined): Setback {
  const reason = 'the service asks for a long pause'
  return new Setback({ code: 'service-throttling', reason, mayBeDone: false, reached: true, retryAfterMs, untilMs })
}
