import { DEFAULT_RETRY } from '../rules/retry-delay.ts'
import { createCapabilitiesReader } from './capabilities/capabilities.ts'
import { type ClientOptions, parseOrigin, parseToken } from './client-options.ts'
import { directoryEndpoints, libraryEndpoints } from './endpoints/library-endpoints.ts'
import { rawEndpoints, resourceEndpoints, searchEndpoints, uploadEndpoints } from './endpoints/resource-endpoints.ts'
import { CircuitBreaker, withCircuitBreaker } from './policies/circuit-breaker.ts'
import { withDeadline } from './policies/deadline.ts'
import { Outages } from './policies/outage.ts'
import { withRateLimits } from './policies/own-request-rate.ts'
import { withRetries } from './policies/retry.ts'
import { RetryAfter } from './retry-after.ts'
import type { ServiceClient } from './service-client.ts'
import { createTransport } from './wire/transport.ts'

/*
 * Who waits after a failure, for how long, and which file decides:
 *
 * | failure                                 | who waits     | how long                              | file                                        |
 * |-----------------------------------------|---------------|---------------------------------------|---------------------------------------------|
 * | broken connection, 5xx, late answer     | the request   | growing delays up to its deadline     | policies/retry.ts, rules/retry-delay.ts     |
 * | no answer yet                           | the request   | up to its deadline; reported if long  | policies/deadline.ts, policies/outage.ts    |
 * | no connection                           | every request | growing delays, then one probes       | policies/circuit-breaker.ts                 |
 * | 429, `Retry-After`                      | every request | as the service asks                   | policies/circuit-breaker.ts, retry-after.ts |
 * | `Retry-After` of an earlier process     | every request | its remaining time, a week at most    | retry-after.ts                              |
 * | an upload may have arrived: DoubtError  | its content   | until the library was searched for it | rules/doubts.ts, sync/doubts/               |
 * | 422 …: RequestError; second doubt       | its content   | 25 s, up to a day; after a 413 a day  | rules/retry-delay.ts                        |
 * | 401, certificate …: AccessError         | the daemon    | 1 min, up to 1 h                      | rules/react-to-failure.ts                   |
 * | a right, a directory, a guard           | its mirror    | 10 s; 15 min if only people can help  | rules/react-to-failure.ts                   |
 * | a full disk of the state                | the whole run | the daemon: 10 s                      | rules/react-to-failure.ts                   |
 *
 * foundation/errors.ts has the classes of errors, rules/react-to-failure.ts what each of them stops. Why an upload was refused, and whether
 * the refusal stops more than its content, is decided in sync/upload/upload-one.ts.
 */

/**
 * Creates the client of one instance: endpoints that send through the policies (`policies/`) and one transport. Throws UsageError if the
 * origin is invalid or insecure or the token cannot be a credential. `clock` measures delays and deadlines.
 */
export function createServiceClient(options: ClientOptions): ServiceClient {
  const origin = parseOrigin(options.origin)
  const { clock } = options
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
    openUntilMs: (deadlineMs: number | undefined) => breaker.openUntilMs(deadlineMs),
  }
  const withinDeadline = withDeadline(transport.send, { clock, policy, outages })
  const send = withRetries(withRateLimits(withCircuitBreaker(withinDeadline, breaker), limits, clock), retrying)
  const { capabilities: decided, contract = {}, logger } = options
  const capabilities = decided ? async () => decided : createCapabilitiesReader(send, contract, logger)
  return {
    origin,
    ...libraryEndpoints(send, capabilities),
    ...directoryEndpoints(send, capabilities),
    ...uploadEndpoints(send, capabilities),
    ...resourceEndpoints(send),
    ...searchEndpoints(send),
    ...rawEndpoints(send),
    capabilities,
    close: transport.close,
    destroy: transport.destroy,
  }
}
