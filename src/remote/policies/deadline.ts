import type { Clock, Timer } from '../../foundation/clock.ts'
import { AccessError, RequestError } from '../../foundation/errors.ts'
import type { RetryPolicy } from '../../rules/retry-delay.ts'
import type { Send, ServiceRequest } from '../wire/request.ts'
import { TransientFailure } from '../wire/transient-failure.ts'
import type { Outages } from './outage.ts'

/** After this long without an answer, the client reports an outage. */
const SILENT_AFTER_MS = 2_500
/** The service counts as silent only after this many times the duration of its slowest answer so far. */
const MAX_SLOWDOWN = 3
/** A try that begins just before the deadline still gets this long. */
const MIN_TRY_MS = 1_000
/** The time of the only try if the policy allows no time for retries. */
const ONLY_TRY_MS = 10_000
/** The service gets 1 ms more for this many bytes of a file before it counts as silent, because it must process them. */
const DIGEST_BYTES_PER_MS = 1 << 10

export interface DeadlineOptions {
  readonly clock: Clock
  readonly policy: RetryPolicy
  /** Undefined if outages are not reported. */
  readonly outages: Outages | undefined
}

/** Returns a policy that gives each try a deadline, adds its duration to a transient failure, and reports answers and stalls. */
export function withDeadline(send: Send, { clock, policy, outages }: DeadlineOptions): Send {
  return async (request) => {
    const beganMs = clock.monotonicMs()
    const deadlineMs = request.deadlineMs ?? (policy.forMs === undefined ? undefined : beganMs + policy.forMs)
    const watch = outages && new StallWatch(clock, outages, request, deadlineMs)
    try {
      const shortestMs = policy.forMs === 0 ? ONLY_TRY_MS : MIN_TRY_MS
      const cutAtMs = deadlineMs === undefined ? undefined : Math.max(deadlineMs, beganMs + shortestMs)
      const bounded = { ...request, deadlineMs: cutAtMs }
      const result = await send(watch ? { ...bounded, onActivity: watch.recordActivity } : bounded)
      watch?.recordResponse()
      return result
    } catch (error) {
      if (error instanceof TransientFailure) {
        throw new TransientFailure({ ...error.details, deadlineMs, triedForMs: clock.monotonicMs() - beganMs })
      }
      if (isResponse(error)) watch?.recordResponse()
      throw error
    } finally {
      watch?.[Symbol.dispose]()
    }
  }
}

const REFUSED_BEFORE_ANY_ANSWER: readonly string[] = [
  'certificate-refused',
  'client-certificate-refused',
  'proxy-refused',
]

function isResponse(error: unknown): boolean {
  if (error instanceof AccessError) return !REFUSED_BEFORE_ANY_ANSWER.includes(error.code)
  return error instanceof RequestError
}

/** Watches one try in flight; reports a stall if for too long neither this try nor any other has had an answer. */
class StallWatch implements Disposable {
  readonly #clock: Clock
  readonly #outages: Outages
  readonly #digestMs: number
  readonly #deadlineMs: number | undefined
  #activeAtMs: number
  #timer: Timer

  constructor(clock: Clock, outages: Outages, { body }: ServiceRequest<unknown>, deadlineMs: number | undefined) {
    this.#clock = clock
    this.#outages = outages
    this.#deadlineMs = deadlineMs
    this.#digestMs = body?.kind === 'file' ? body.sizeBytes / DIGEST_BYTES_PER_MS : 0
    this.#activeAtMs = clock.monotonicMs()
    this.#timer = this.#startTimer()
  }

  readonly recordActivity = (): void => {
    this.#activeAtMs = this.#clock.monotonicMs()
  }

  recordResponse(): void {
    this.#outages.recordResponse(this.#clock.monotonicMs() - this.#activeAtMs)
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]()
  }

  #startTimer(): Timer {
    return this.#clock.startTimer(this.#remainingMs(), () => {
      if (this.#remainingMs() > 0) this.#timer = this.#startTimer()
      else this.#outages.recordStall(this.#silentMs(), this.#deadlineMs)
    })
  }

  #remainingMs(): number {
    const usualMs = Math.max(SILENT_AFTER_MS, this.#outages.longestMs * MAX_SLOWDOWN)
    return usualMs + this.#digestMs - this.#silentMs()
  }

  #silentMs(): number {
    return this.#clock.monotonicMs() - Math.max(this.#activeAtMs, this.#outages.answeredAtMs)
  }
}
