import type { Clock } from '../../foundation/clock.ts'
import type { RateLimits } from '../client-options.ts'
import type { UploadBody } from '../service-client.ts'
import type { FileBody, Send, ServiceRequest } from '../wire/request.ts'
import { sleepFor } from './retry.ts'

/** Returns a policy that keeps requests and uploaded bytes within the user's limits per second. */
export function withRateLimits(send: Send, limits: RateLimits | undefined, clock: Clock): Send {
  const { requestsPerSecond = 0, bytesPerSecond, hosts = () => 1 } = limits ?? {}
  const requests = requestsPerSecond > 0 ? new TokenBucket(() => requestsPerSecond / hosts(), clock) : undefined
  const bytes = bytesPerSecond && new TokenBucket(bytesPerSecond, clock)
  if (!requests && !bytes) return send
  return async (request) => {
    await requests?.take(1, request)
    return send(bytes && request.body?.kind === 'file' ? slowDown(request, request.body, bytes) : request)
  }
}

/** A shorter wait is added to the next one, because timers are not that exact. */
const MIN_WAIT_MS = 5

/** A token bucket over the monotonic clock that saves no tokens, so there are no bursts. */
class TokenBucket {
  /** Returns the present limit; 0: none. */
  readonly perSecond: () => number
  readonly #clock: Clock
  #freeAtMs = 0

  constructor(perSecond: () => number, clock: Clock) {
    this.perSecond = perSecond
    this.#clock = clock
  }

  /** Waits for `amount` tokens; throws InterruptedError if `request` is aborted. */
  async take(amount: number, request: ServiceRequest<unknown>): Promise<void> {
    const perSecond = this.perSecond()
    if (perSecond === 0) return
    const nowMs = this.#clock.monotonicMs()
    const startMs = Math.max(nowMs, this.#freeAtMs)
    this.#freeAtMs = startMs + (amount / perSecond) * 1_000
    if (startMs - nowMs >= MIN_WAIT_MS) await sleepFor(this.#clock, startMs - nowMs, request)
  }
}

function slowDown<T>(request: ServiceRequest<T>, body: FileBody, bucket: TokenBucket): ServiceRequest<T> {
  const open = async () => trickle(await body.open(Buffer.allocUnsafeSlow), bucket, request)
  return { ...request, body: { ...body, open } }
}

const [MIN_BYTES, MAX_BYTES] = [1_024, 65_536]

/** Yields pieces so small that no single wait looks like a stalled upload. */
async function* trickle(
  body: UploadBody,
  bucket: TokenBucket,
  request: ServiceRequest<unknown>,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of body instanceof Uint8Array ? [body] : body) {
    for (let remaining = chunk; remaining.length > 0; ) {
      const perSecond = bucket.perSecond() || MAX_BYTES * 10
      const piece = remaining.subarray(0, Math.max(MIN_BYTES, Math.min(MAX_BYTES, Math.floor(perSecond / 10))))
      remaining = remaining.subarray(piece.length)
      await bucket.take(piece.length, request)
      yield piece
    }
  }
}
