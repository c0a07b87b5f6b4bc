import { LONGEST_PAUSE_MS, retryPauseMs } from '../rules/retry-pause.ts'
import { Setback, type SetbackFacts } from './failures.ts'
import type { Send, ServiceRequest } from './request.ts'
import { type Pausing, pause } from './retrying.ts'

/**
 * The one gate all requests of a client pass. `Retry-After` and 429 close it for everybody until the pause is over; while the
 * service can't be reached, one request probes and the others share what it finds.
 */
export function withGate(send: Send, pausing: Pausing): Send {
  const gate = new Gate(pausing)
  return async (request) => {
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

class Gate {
  /** Counts closures: what was sent before a closure doesn't make the next pause longer. */
  turn = 0
  readonly #pausing: Pausing
  #openAtMs = 0
  #strikes = 0
  #unreachable = false
  #probe: PromiseWithResolvers<SetbackFacts | undefined> | undefined

  constructor(pausing: Pausing) {
    this.#pausing = pausing
  }

  get isOpen(): boolean {
    return !this.#unreachable && this.#openAtMs === 0
  }

  /** Waits for the gate; gives `request` back, or a probe made of it when nobody else is finding out whether the service is there. */
  async admit<T>(request: ServiceRequest<T>): Promise<ServiceRequest<T>> {
    for (;;) {
      await this.#sitOut(request)
      if (!this.#unreachable) return request
      if (!this.#probe) return this.#probing(request)
      const facts = await this.#probe.promise
      if (facts) throw new Setback({ ...facts, mayBeDone: false })
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
    const { clock } = this.#pausing
    for (let satOutMs = 0; this.#openAtMs > satOutMs; ) {
      satOutMs = this.#openAtMs
      const restMs = Math.ceil(satOutMs - clock.monotonicMs())
      if (restMs > LONGEST_PAUSE_MS) throw throttled(restMs)
      if (restMs > 0) await pause(clock, restMs, request)
    }
    this.#openAtMs = 0
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
    const { policy, random, clock, logger } = this.#pausing
    const pauseMs = retryPauseMs(Math.max(1, this.#strikes), policy, random(), retryAfterMs)
    this.#openAtMs = Math.max(this.#openAtMs, clock.monotonicMs() + pauseMs)
    if (this.#strikes === 1)
      logger.info('the service is busy or away, all requests pause', { pauseMs: Math.round(pauseMs) })
    else logger.debug('all requests pause again', { pauseMs: Math.round(pauseMs) })
  }
}

function throttled(retryAfterMs: number): Setback {
  const reason = 'the service asks for a pause of more than a day'
  return new Setback({ code: 'service-throttling', reason, mayBeDone: false, reached: true, retryAfterMs })
}
