import { accessTopic } from './access.ts'
import { AskedPause } from './asked-pause.ts'
import { assetsTopic } from './assets.ts'
import { type ClientOptions, DEFAULT_RETRY, parseOrigin, parseToken } from './client-options.ts'
import { createFactsReader } from './contract-facts.ts'
import { directoriesTopic } from './directories.ts'
import { Gate, withGate } from './gate.ts'
import { librariesTopic } from './libraries.ts'
import { withLimits } from './limiting.ts'
import { Outages } from './outage.ts'
import { rawTopic } from './raw-call.ts'
import { resourcesTopic } from './resources.ts'
import { withRetries } from './retrying.ts'
import { searchTopic } from './search.ts'
import type { ServiceClient } from './service-client.ts'
import { createTransport } from './transport.ts'
import { withTrying } from './trying.ts'
import { uploadsTopic } from './uploads.ts'

/**
 * The client of one instance: topics on decorators on the one transport. Throws UsageError when the origin isn't one, isn't safe, or
 * the token can't be a credential. Pauses and deadlines are in the time of `clock`.
 */
export function createServiceClient(options: ClientOptions): ServiceClient {
  const origin = parseOrigin(options.origin)
  const transport = createTransport({ ...options, origin, token: parseToken(options.token) })
  const { clock, limits, onOutage, retry: policy = DEFAULT_RETRY, asked = new AskedPause(clock) } = options
  const outages = onOutage && new Outages(origin, clock, onOutage)
  const gate = new Gate({ ...options, policy, outages, asked })
  const pausing = {
    ...options,
    origin,
    policy,
    outages,
    openAtMs: (untilMs: number | undefined) => gate.openAtMs(untilMs),
  }
  const trying = withTrying(transport.send, { clock, policy, outages })
  const send = withRetries(withLimits(withGate(trying, gate), limits, clock), pausing)
  const contractFacts = createFactsReader(send, options.contract ?? {}, options.logger)
  return {
    origin,
    ...accessTopic(send),
    ...librariesTopic(send, contractFacts),
    ...directoriesTopic(send, contractFacts),
    ...uploadsTopic(send, contractFacts),
    ...resourcesTopic(send),
    ...assetsTopic(send),
    ...searchTopic(send),
    ...rawTopic(send),
    contractFacts,
    close: transport.close,
    destroy: transport.destroy,
  }
}
