import { join } from 'node:path'
import type { EmbeddingProgress } from '../../embedded/embedding/embedding-stage.ts'
import { assertLibraryInstalled, describeReaders } from '../../embedded/optional-packages.ts'
import type { EmbeddedLibrary } from '../../embedded/start-embedded.ts'
import type { LibraryThreadOptions } from '../../embedded/start-in-thread.ts'
import type { Holder } from '../../embedded/storage/holder-file.ts'
import { systemClock } from '../../foundation/clock.ts'
import { ThreadEndedError } from '../../foundation/concurrency/thread-calls.ts'
import { orAbort } from '../../foundation/concurrency/waits.ts'
import { InterruptedError, LockedError } from '../../foundation/errors.ts'
import { describeCommand, describeHolder } from '../../foundation/files/lock-holder.ts'
import type { Logger } from '../../foundation/logger.ts'
import type { Redactor } from '../../foundation/text/redaction.ts'
import { MINUTE_MS } from '../../foundation/text/times.ts'
import { typedProgram } from '../../foundation/typed-program.ts'
import { chooseProxy } from '../../remote/choose-proxy.ts'
import type { ClientOptions } from '../../remote/client-options.ts'
import type { Outage, OutageListener } from '../../remote/policies/outage.ts'
import { RetryAfter } from '../../remote/retry-after.ts'
import type { Capabilities, ServiceClient } from '../../remote/service-client.ts'
import type { ConnectOptions } from '../../remote/wire/connector.ts'
import type { TunnelProxy } from '../../remote/wire/proxy.ts'
import { type Bandwidth, bandwidthAt, isEverLimited } from '../../rules/bandwidth.ts'
import { embeddedOrigin } from '../../rules/mirror-activity.ts'
import type { Connection, Service } from '../../sync/engine.ts'
import { identityOfService } from '../mirrors/mirror-roster.ts'
import type { Surroundings } from '../settings/config-paths.ts'
import type { ConfiguredServiceSettings, EmbeddedServiceSettings, Settings } from '../settings/settings.ts'
import { readAuthorities, readClientCertificate } from './certificates.ts'
import { chooseEmbedder } from './choose-embedder.ts'
import { type FoundToken, readToken } from './credential.ts'
import { type SharedLibrary, shareLibrary } from './share-library.ts'

export interface OpenedService extends AsyncDisposable {
  readonly client: ServiceClient
  readonly kind: 'embedded' | 'configured'
  readonly identity: string
  /** The embedded library; undefined for a configured service. */
  readonly library?: Pick<SharedLibrary, 'embedFor'>
}

export interface OpenServiceInput extends Surroundings {
  readonly logger: Logger
  /** Learns the credential before any log line can contain it. */
  readonly redactor: Redactor
  readonly signal: AbortSignal
  /** In a process that keeps running, such as the daemon, the embedded library embeds documents. */
  readonly isLongLived?: boolean
  /** The retries of requests to a configured service; the client's default if absent. */
  readonly retry?: ClientOptions['retry']
  /** The waiting times that the service has asked for, also of earlier clients; undefined: none yet. */
  readonly retryAfter?: ClientOptions['retryAfter']
  /** The number of hosts that share `requestsPerSecond`; undefined: this one alone. */
  readonly hosts?: (() => number) | undefined
  readonly onOutage?: ClientOptions['onOutage']
  readonly token?: FoundToken
  readonly onRequest?: ClientOptions['onRequest']
}

/** Connections for polls and listings, in addition to those for uploads. */
const SPARE_CONNECTIONS = 4
/** Short delays, because the embedded library runs on this machine. */
const EMBEDDED_RETRY = { attempts: 8, firstDelayMs: 20, maxDelayMs: 1_000 }
/** The embedded library has had these fields since its first version; asking it for them would load code that generates its OpenAPI. */
export const EMBEDDED_CAPABILITIES: Capabilities = {
  createDirectory: { source: 'default', kind: 'path', field: 'path' },
  createLibrary: { source: 'default', nameField: 'name', overviewField: 'overview' },
  uploadDirectoryField: { source: 'default', field: 'path' },
  describedVersion: undefined,
  undescribed: null,
}
/** How long another process that holds the library may take for its first answer. */
const ANSWERS_WITHIN_MS = 10_000

/** Connects to the configured service or the embedded library, which it starts in a thread unless another process has it. */
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
  const { origin } = service
  const { retry, retryAfter, onOutage } = input
  const options = await findConnectOptions(service, input)
  const { token, source } = input.token ?? (await readToken(service, input))
  const own = { origin, token, tokenSource: source, retry, retryAfter, onOutage }
  const client = await connect(settings, input, { ...options, ...own })
  return { client, kind: 'configured', identity: origin, [Symbol.asyncDispose]: () => client.close() }
}

export async function findConnectOptions(
  { origin, caFile, clientCertificate: files }: ConfiguredServiceSettings,
  input: Pick<OpenServiceInput, 'env' | 'redactor'>,
): Promise<Pick<ConnectOptions, 'proxy' | 'authorities' | 'clientCertificate'>> {
  const authorities = caFile === undefined ? undefined : readAuthorities(caFile, 'service.caFile')
  const clientCertificate = files && readClientCertificate(files, 'service', input.redactor)
  return { proxy: await findProxy(origin, input), authorities, clientCertificate }
}

/** Returns the proxy for this origin; undefined if none is set. Adds its credentials to the redactor. */
export async function findProxy(
  origin: string,
  { env, redactor }: Pick<OpenServiceInput, 'env' | 'redactor'>,
): Promise<TunnelProxy | undefined> {
  const choice = chooseProxy(origin, env)
  if (!choice) return undefined
  const { parseProxy } = await import('../../remote/wire/proxy.ts')
  const proxy = parseProxy(choice)
  for (const secret of secretsOf(proxy)) redactor.add(secret)
  return proxy
}

function secretsOf({ credentials = '' }: TunnelProxy): string[] {
  const password = credentials.slice(credentials.indexOf(':') + 1)
  return [password, Buffer.from(credentials).toString('base64')]
}

async function openEmbedded(
  { dataDir }: EmbeddedServiceSettings,
  settings: Settings,
  input: OpenServiceInput,
): Promise<OpenedService> {
  await using starting = new AsyncDisposableStack()
  const { isLongLived = false, redactor, logger } = input
  const options = {
    dataDir,
    embedsDocuments: isLongLived,
    startedBy: describeCommand(),
    typedProgram: typedProgram(),
    embedder: chooseEmbedder(settings.embedder, redactor),
    ...(isLongLived && settings.libraryListen !== 'none' && settings.libraryListen),
  }
  const library = starting.use(await shareLibrary(options, startLibrary, input.signal))
  const { url: origin, token } = library
  const own = { retry: EMBEDDED_RETRY, capabilities: EMBEDDED_CAPABILITIES }
  const client = await connect(settings, input, { origin, token, whereabouts: library, ...own })
  starting.defer(() => client.close())
  if ('port' in options) {
    if (library.holder) logger.warn('another process serves the library', { holder: describeHolder(library.holder) })
    else logger.info('the library is served', { url: origin, tokenFile: join(dataDir, 'token') })
  }
  if (library.holder) await assertAnswers(library.holder, client, settings, input)
  const running = starting.move()
  return {
    client,
    kind: 'embedded',
    identity: embeddedOrigin(library.instanceId),
    library,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

/** Throws LockedError if the process that holds the library does not answer, for instance because it is suspended. */
async function assertAnswers(
  holder: Holder,
  client: ServiceClient,
  { service: { dataDir } }: Settings,
  { signal }: OpenServiceInput,
): Promise<void> {
  const timeout = AbortSignal.timeout(ANSWERS_WITHIN_MS)
  try {
    await client.checkAccess(AbortSignal.any([signal, timeout]))
  } catch (error) {
    if (!timeout.aborted || signal.aborted) throw error
    const text = `The library in "${dataDir}" is held by ${describeHolder(holder)}, which does not answer`
    throw new LockedError('library-locked', text)
  }
}

/** A separate function, because the compiler does not rewrite an import() in a function with `using`. */
async function startLibrary(options: LibraryThreadOptions): Promise<EmbeddedLibrary> {
  assertLibraryInstalled()
  const { startEmbeddedInThread } = await import('../../embedded/start-in-thread.ts')
  return startEmbeddedInThread(options)
}

async function connect(
  { limits, contract, timeZone }: Settings,
  { logger, redactor, onRequest, hosts }: OpenServiceInput,
  server: Omit<ClientOptions, 'logger' | 'onRequest' | 'limits' | 'contract' | 'connections' | 'clock' | 'random'>,
): Promise<ServiceClient> {
  redactor.add(server.token)
  const { createServiceClient } = await import('../../remote/create-client.ts')
  const connections = limits.transfers + SPARE_CONNECTIONS
  return createServiceClient({
    ...server,
    logger,
    onRequest,
    limits: {
      requestsPerSecond: limits.requestsPerSecond,
      hosts,
      bytesPerSecond: isEverLimited(limits.bandwidth) ? bandwidthByClock(limits.bandwidth, timeZone) : undefined,
    },
    contract,
    connections,
    clock: systemClock,
    random: Math.random,
  })
}

/** Returns a function that returns the current limit, by the wall clock in `timeZone`. */
function bandwidthByClock(bandwidth: Bandwidth, timeZone: string | undefined): () => number {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
  let computed = { minuteOfTime: -1, bytesPerSecond: 0 }
  return () => {
    const nowMs = systemClock.nowMs()
    const minuteOfTime = Math.floor(nowMs / MINUTE_MS)
    if (minuteOfTime !== computed.minuteOfTime) {
      const [hours = 0, minutes = 0] = format.format(nowMs).split(':').map(Number)
      computed = { minuteOfTime, bytesPerSecond: bandwidthAt(bandwidth, hours * 60 + minutes) }
    }
    return computed.bytesPerSecond
  }
}

/** An attempt to connect, which all callers share until `disconnect`. */
interface ConnectAttempt {
  readonly connection: Promise<Connection>
  /** Aborted by `disconnect`: callers that still wait then begin a new attempt. */
  readonly end: AbortController
}

export interface LazyService extends Service, AsyncDisposable {
  /** Embeds documents for at most this time. Returns undefined if the library was not used, or if another process holds it. */
  embedFor(forMs: number): Promise<EmbeddingProgress | undefined>
}

export function createLazyService(settings: Settings, callerInput: OpenServiceInput): LazyService {
  const listeners = new Set<OutageListener>(callerInput.onOutage ? [callerInput.onOutage] : [])
  let underWay: Outage | null = null
  const onOutage: OutageListener = (outage) => {
    underWay = outage
    for (const listener of listeners) listener(outage)
  }
  // The service's `Retry-After` for one client holds for the next one, too.
  const input = { ...callerInput, onOutage, retryAfter: callerInput.retryAfter ?? new RetryAfter(systemClock) }
  let opened: Promise<OpenedService> | undefined
  let attempt: ConnectAttempt | undefined
  let isDisposed = false
  let closing: Promise<void> = Promise.resolve()
  const inUse = new Set<OpenedService>()
  let identity = identityOfService(settings)
  const connect = async (signal: AbortSignal): Promise<Connection> => {
    await closing
    // A service that is opened after the end of its attempt would never be closed.
    signal.throwIfAborted()
    // A service that was opened but refused the credential is used again until `disconnect`.
    opened ??= openService(settings, input)
    const service = await opened.catch((error: unknown) => {
      opened = undefined
      throw error
    })
    inUse.add(service)
    identity = service.identity
    return { client: service.client, access: await service.client.checkAccess(signal) }
  }
  const disconnect = () => {
    const service = opened
    opened = undefined
    attempt?.end.abort(new InterruptedError())
    attempt = undefined
    underWay = null
    closing = closing.then(() => close(service, inUse))
    return closing
  }
  const reset = async () => {
    const disconnected = disconnect()
    // The copy leaves out services that are opened from now on.
    for (const { client } of [...inUse]) await client.destroy()
    await disconnected
  }
  const begin = (): ConnectAttempt => {
    const end = new AbortController()
    const begun = { connection: connect(end.signal), end }
    // After a failure the next call connects again.
    begun.connection.catch(() => {
      if (attempt === begun) attempt = undefined
    })
    return begun
  }
  const connectOnce = async (signal: AbortSignal): Promise<Connection> => {
    while (!isDisposed) {
      attempt ??= begin()
      const { connection, end } = attempt
      try {
        const connected = await orAbort(connection, signal)
        if (!end.signal.aborted) return connected
      } catch (error) {
        if (!end.signal.aborted || signal.aborted) throw error
      }
    }
    throw new InterruptedError()
  }
  const dispose = () => {
    isDisposed = true
    return disconnect()
  }
  return {
    get identity() {
      return identity
    },
    isEmbedded: settings.service.kind === 'embedded',
    ...(settings.service.kind === 'configured'
      ? { addressFrom: settings.service.addressFrom }
      : { directory: settings.service.dataDir, describeReaders: () => JSON.stringify(describeReaders()) }),
    connect: connectOnce,
    onOutage: (listener) => {
      listeners.add(listener)
      if (underWay) listener(underWay)
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
    embedFor: async (forMs) => {
      try {
        return await (await opened)?.library?.embedFor?.(forMs)
      } catch (error) {
        // The library was handed over to another process.
        if (error instanceof ThreadEndedError) return undefined
        throw error
      }
    },
    disconnect,
    reset,
    [Symbol.asyncDispose]: dispose,
  }
}

async function close(opened: Promise<OpenedService> | undefined, inUse: Set<OpenedService>): Promise<void> {
  const service = await opened?.catch(() => undefined)
  if (!service) return
  await service[Symbol.asyncDispose]()
  inUse.delete(service)
}
