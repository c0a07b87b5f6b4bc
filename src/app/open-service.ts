import { systemClock } from '../foundation/clock.ts'
import type { Logger } from '../foundation/logger.ts'
import type { ClientOptions } from '../remote/client-options.ts'
import type { ServiceClient } from '../remote/service-client.ts'
import { readToken } from './credential.ts'
import type { Redactor } from './redactor.ts'
import type { Surroundings } from './settings/find-config-file.ts'
import type { ConfiguredServiceSettings, EmbeddedServiceSettings, Settings } from './settings/settings.ts'

export interface OpenedService extends AsyncDisposable {
  readonly client: ServiceClient
  readonly kind: 'embedded' | 'configured'
  /** What stays the same from run to run: the origin, or the instance of the embedded library. */
  readonly identity: string
}

export interface OpenServiceInput extends Surroundings {
  readonly logger: Logger
  /** Learns the credential before anything can be logged about it. */
  readonly redactor: Redactor
  readonly signal: AbortSignal
  /** How patiently a configured service is asked again; the client's own way if not said. */
  readonly retry?: ClientOptions['retry']
}

/** Polls and listings beside the uploads. */
const SPARE_CONNECTIONS = 4
/** The embedded library is in this very process: no reason to wait long for it. */
const EMBEDDED_RETRY = { attempts: 8, firstPauseMs: 20, maxPauseMs: 1_000 }

/** Connects to the configured service, or starts the embedded library in a thread of its own and connects to it. */
export async function openService(settings: Settings, input: OpenServiceInput): Promise<OpenedService> {
  const { service } = settings
  if (service.kind === 'embedded') return openEmbedded(service, settings, input)
  return openConfigured(service, settings, input)
}

async function openConfigured(
  service: ConfiguredServiceSettings,
  settings: Settings,
  input: OpenServiceInput,
): Promise<OpenedService> {
  const token = await readToken(service, input)
  const client = await connect(settings, input, { origin: service.origin, token, retry: input.retry })
  return {
    client,
    kind: 'configured',
    identity: service.origin,
    [Symbol.asyncDispose]: () => client.close(),
  }
}

async function openEmbedded(
  service: EmbeddedServiceSettings,
  settings: Settings,
  input: OpenServiceInput,
): Promise<OpenedService> {
  await using starting = new AsyncDisposableStack()
  const library = starting.use(await startLibrary(service))
  const server = { origin: library.url, token: library.token, retry: EMBEDDED_RETRY }
  const client = await connect(settings, input, server)
  starting.defer(() => client.close())
  const running = starting.move()
  return {
    client,
    kind: 'embedded',
    identity: `embedded:${library.instanceId}`,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

/** On its own, because the compiler does not rewrite an import() beside `using`. */
async function startLibrary({ dataDir }: EmbeddedServiceSettings) {
  const { startEmbeddedInWorker } = await import('../embedded/start-in-worker.ts')
  return startEmbeddedInWorker({ dataDir })
}

async function connect(
  { limits, contract }: Settings,
  { logger, redactor }: OpenServiceInput,
  server: Pick<ClientOptions, 'origin' | 'token' | 'retry'>,
): Promise<ServiceClient> {
  redactor.add(server.token)
  const { createServiceClient } = await import('../remote/create-client.ts')
  const connections = limits.transfers + SPARE_CONNECTIONS
  return createServiceClient({
    ...server,
    logger,
    limits,
    contract,
    connections,
    clock: systemClock,
    random: Math.random,
  })
}
