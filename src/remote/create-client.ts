import { withSharedTimer } from '../foundation/concurrency/shared-timer.ts'
import { DEFAULT_RETRY } from '../rules/retry-delay.ts'
import { createCapabilitiesReader } from './capabilities/capabilities.ts'
import { type ClientOptions, parseOrigin, parseToken } from './client-options.ts'
import { accessEndpoints } from './endpoints/access-context.ts'
import { assetEndpoints } from './endpoints/assets.ts'
import { directoryEndpoints } from './endpoints/directories.ts'
import { libraryEndpoints } from './endpoints/libraries.ts'
import { rawEndpoints } from './endpoints/raw-call.ts'
import { resourceEndpoints } from './endpoints/resources.ts'
import { searchEndpoints } from './endpoints/search.ts'
import { uploadEndpoints } from './endpoints/uploads.ts'
import { withAttempts } from './policies/attempt.ts'
import { CircuitBreaker, withCircuitBreaker } from './policies/circuit-breaker.ts'
import { Outages } from './policies/outage.ts'
import { withRateLimits } from './policies/rate-limit.ts'
import { withRetries } from './policies/retry.ts'
import { RetryAfter } from './policies/retry-after.ts'
import type { ServiceClient } from './service-client.ts'
import { createTransport } from './wire/transport.ts'

/**
 * Creates the client of one instance: endpoints over policies (decorators) over one transport. Throws UsageError if the
 * origin is invalid or insecure or the token cannot be a credential. Delays and deadlines are in the time of `clock`.
 */
export function createServiceClient(options: ClientOptions): ServiceClient {
  const origin = parseOrigin(options.origin)
  const clock = withSharedTimer(options.clock)
  const transport = createTransport({ ...options, clock, origin, token: parseToken(options.token) })
  const { limits, onOutage, retry: policy = DEFAULT_RETRY, retryAfter = new RetryAfter(clock) } = options
  const outages = onOutage && new Outages(origin, clock, onOutage)
  const breaker = new CircuitBreaker({ ...options, clock, policy, outages, retryAfter })
  const retrying = {
    ...options,
    clock,
    origin,
    policy,
    outages,
    openUntilMs: (untilMs: number | undefined) => breaker.openUntilMs(untilMs),
  }
  const attempts = withAttempts(transport.send, { clock, policy, outages })
  const send = withRetries(withRateLimits(withCircuitBreaker(attempts, breaker), limits, clock), retrying)
  const capabilities = createCapabilitiesReader(send, options.contract ?? {}, options.logger)
  return {
    origin,
    ...accessEndpoints(send),
    ...libraryEndpoints(send, capabilities),
    ...directoryEndpoints(send, capabilities),
    ...uploadEndpoints(send, capabilities),
    ...resourceEndpoints(send),
    ...assetEndpoints(send),
    ...searchEndpoints(send),
    ...rawEndpoints(send),
    capabilities,
    close: transport.close,
    destroy: transport.destroy,
  }
}
