import type { Clock } from '../../foundation/clock.ts'
import type { UploadBody } from '../service-client.ts'
import type { FileBody, Send, ServiceRequest } from '../wire/request.ts'
import { sleepFor } from './retry.ts'

interface RateLimits {
  readonly requestsPerSecond: number
  readonly bandwidthBytesPerSecond: number
}

/** Keeps requests and uploaded bytes within the user's limits per second; 0 means no limit. */
export function withRateLimits(send: Send, limits: RateLimits | undefined, clock: Clock): Send {
  const requests = limits?.requestsPerSecond ? new TokenBucket(limits.requestsPerSecond, clock) : undefined
  const bytes = limits?.bandwidthBytesPerSecond ? new TokenBucket(limits.bandwidthBytesPerSecond, clock) : undefined
  if (!requests && !bytes) return send
  return async (request) => {
    await requests?.take(1, request)
    return send(bytes && request.body?.kind === 'file' ? slowed(request, request.body, bytes) : request)
  }
}

/** Shorter waits accumulate, because timers are not that exact. */
const SHORTEST_WAIT_MS = 5

/** A token bucket over the monotonic clock that saves no tokens, so there are no bursts. */
class TokenBucket {
  readonly perSecond: number
  readonly #clock: Clock
  #freeAtMs = 0

  constructor(perSecond: number, clock: Clock) {
    this.perSecond = perSecond
    this.#clock = clock
  }

  /** Waits for `amount` tokens; throws InterruptedError if `request` is aborted. */
  async take(amount: number, request: ServiceRequest<unknown>): Promise<void> {
    const nowMs = this.#clock.monotonicMs()
    const startMs = Math.max(nowMs, this.#freeAtMs)
    this.#freeAtMs = startMs + (amount / this.perSecond) * 1_000
    if (startMs - nowMs >= SHORTEST_WAIT_MS) await sleepFor(this.#clock, startMs - nowMs, request)
  }
}

function slowed<T>(request: ServiceRequest<T>, body: FileBody, bucket: TokenBucket): ServiceRequest<T> {
  const open = async () => trickle(await body.open(), bucket, request)
  return { ...request, body: { ...body, open } }
}

/** Yields pieces so small that no single wait looks like a stalled upload. */
async function* trickle(
  body: UploadBody,
  bucket: TokenBucket,
  request: ServiceRequest<unknown>,
): AsyncGenerator<Uint8Array> {
  const pieceBytes = Math.max(1_024, Math.min(65_536, Math.floor(bucket.perSecond / 10)))
  for await (const chunk of body instanceof Uint8Array ? [body] : body) {
    for (let start = 0; start < chunk.length; start += pieceBytes) {
      const piece = chunk.subarray(start, start + pieceBytes)
      await bucket.take(piece.length, request)
      yield piece
    }
  }
}
