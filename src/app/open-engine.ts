import { systemClock } from '../foundation/clock.ts'
import { Mutex } from '../foundation/concurrency/mutex.ts'
import { boundedFileSystem } from '../local/read/bounded-file-system.ts'
import { keepRetryAfter, type Memory, recallRetryAfter } from '../remote/retry-after.ts'
import { openStore, openStoreReader, type Store, type StoreReader, sizeOfStore } from '../store/open-store.ts'
import type { Engine } from '../sync/engine.ts'
import { IngestionCapacity } from '../sync/ingestion/ingestion-capacity.ts'
import { createProgress } from '../sync/progress.ts'
import type { ReportContext } from '../sync/report/report.ts'
import type { StartWalk } from '../sync/scan/scan-batch.ts'
import { prepareThread, rescanInThread, walkBySize } from '../sync/scan/walk-by-checkers.ts'
import { type FileLog, type MetricsSink, noMetrics, silentFileLog } from '../sync/sinks.ts'
import { openUploadQueues } from '../sync/upload/parallel-uploads.ts'
import { realPathOfOwn } from './files/paths-on-disk.ts'
import { type MemberInput, memberOf } from './open-fleet.ts'
import { hooksOf } from './run-hooks.ts'
import { createLazyService, type LazyService, type OpenServiceInput } from './service-client/open-service.ts'
import type { Settings } from './settings/settings.ts'

/** The time that uploads in flight may take to end after a request to stop. */
const GRACE_MS = 20_000

export interface OpenedEngine extends AsyncDisposable {
  readonly engine: Engine
  readonly reportContext: ReportContext
  readonly embedFor: LazyService['embedFor']
}

export interface OpenEngineInput extends Omit<MemberInput, 'store'> {
  readonly metrics?: MetricsSink
  readonly fileLog?: FileLog
  readonly graceMs?: number
  readonly beforeUploads?: Engine['beforeUploads']
  /** Used in place of the store in the state directory, and closed with the engine. */
  readonly store?: Store
}

/** Above this size of the store, a scan uses a second thread, which is therefore started early. */
const LARGE_STATE_BYTES = 2 ** 21

export function openEngine(settings: Settings, input: OpenEngineInput): OpenedEngine {
  if (!input.store && sizeOfStore(settings.stateDir) > LARGE_STATE_BYTES) prepareThread()
  const store = input.store ?? openStore(settings.stateDir)
  const composed = composeEngine(settings, {
    ...input,
    store,
    startWalk: walkBySize(store, settings.limits.checkers),
  })
  return {
    ...composed,
    [Symbol.asyncDispose]: async () => {
      // Closes the store even if closing the service fails.
      using _store = store
      await composed[Symbol.asyncDispose]()
    },
  }
}

export interface ComposeInput extends OpenEngineInput {
  readonly store: Store
  readonly startWalk: StartWalk
  /** Aborts when this process ends, and begins the grace period; by default `signal`, which also aborts for a new configuration. */
  readonly endSignal?: AbortSignal
}

export function composeEngine(settings: Settings, input: ComposeInput): OpenedEngine {
  const { store } = input
  const origin = originOf(settings)
  const retryAfter =
    origin === undefined ? undefined : keepRetryAfter(memoryOf(store), origin, systemClock, input.logger)
  const [ingestion, inFlight] = [new IngestionCapacity(), new Set<number>()]
  const shared = origin === undefined || !retryAfter ? undefined : { origin, retryAfter, ingestion, inFlight }
  const fleet = memberOf(settings, input, shared)
  const service = createLazyService(settings, { ...input, retryAfter, hosts: () => fleet?.busyHosts ?? 1 })
  const { limits } = settings
  const grace = graceAfter(input.endSignal ?? input.signal, input.graceMs ?? GRACE_MS)
  const engine: Engine = {
    store,
    service,
    startWalk: input.startWalk,
    openRescanner: rescanInThread,
    scanMutex: new Mutex(),
    fs: boundedFileSystem,
    ownDirectories: ownDirectoriesOf(settings),
    clock: systemClock,
    random: Math.random,
    logger: input.logger,
    progress: createProgress(),
    metrics: input.metrics ?? noMetrics,
    fileLog: input.fileLog ?? silentFileLog,
    ...openUploadQueues(limits.transfers, service),
    inFlight,
    ingestion,
    signal: input.signal,
    graceSignal: grace.signal,
    limits,
    pollIntervals: settings.ingestion,
    scrubIntervalMs: settings.scrubIntervalMs,
    fleet,
    hooks: hooksOf(settings, input.env),
    beforeUploads: input.beforeUploads,
  }
  return {
    engine,
    reportContext: reportContext(settings, input, store, service),
    embedFor: service.embedFor,
    [Symbol.asyncDispose]: async () => {
      grace.end()
      await fleet?.[Symbol.asyncDispose]()
      await service[Symbol.asyncDispose]()
    },
  }
}

/** Opens the store for reading, even while another process holds it. The service is opened when it is first used. */
export function openReader(settings: Settings, input: OpenServiceInput) {
  const store = openStoreReader(settings.stateDir)
  const origin = originOf(settings)
  const retryAfter = store && origin !== undefined ? recallRetryAfter(store.keyValues, origin, systemClock) : undefined
  const service = createLazyService(settings, { ...input, retryAfter })
  return {
    /** Undefined before the first sync. */
    store,
    contextFor: (reader: StoreReader) => reportContext(settings, input, reader, service),
    [Symbol.asyncDispose]: async () => {
      await service[Symbol.asyncDispose]()
      store?.[Symbol.dispose]()
    },
  }
}

/** Returns access to the key-value pairs of the store; each is written in a transaction of its own. */
function memoryOf({ keyValues, write }: Store): Memory {
  return { get: keyValues.get, set: (key, value) => write(() => keyValues.set(key, value)) }
}

/** Returns the origin whose `Retry-After` is remembered; undefined for the embedded library, which never sends one. */
function originOf({ service }: Settings): string | undefined {
  return service.kind === 'configured' ? service.origin : undefined
}

/** Returns the real paths of shelfd's own data, including the embedded library's, even if a service is configured. */
export function ownDirectoriesOf({ stateDir, service }: Pick<Settings, 'stateDir' | 'service'>): string[] {
  return [stateDir, service.dataDir].map(realPathOfOwn)
}

function graceAfter(signal: AbortSignal, graceMs: number): { signal: AbortSignal; end(): void } {
  const grace = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const onAbort = () => {
    timer = setTimeout(() => grace.abort(signal.reason), graceMs)
  }
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
  const end = () => {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
  return { signal: grace.signal, end }
}

function reportContext(
  settings: Settings,
  input: OpenServiceInput,
  store: StoreReader,
  service: LazyService,
): ReportContext {
  return {
    store,
    service,
    startWalk: walkBySize(store, Math.max(1, settings.limits.checkers - 1)),
    fs: boundedFileSystem,
    clock: systemClock,
    logger: input.logger,
    signal: input.signal,
    stateDirectory: settings.stateDir,
    ownDirectories: ownDirectoriesOf(settings),
    listConcurrency: settings.limits.transfers,
  }
}
