import PQueue from 'p-queue'
import type { LibraryAccess } from '../daemon/control/answers.ts'
import { systemClock } from '../foundation/clock.ts'
import { Mutex } from '../foundation/mutex.ts'
import { nodeFileSystem } from '../local/read/file-system.ts'
import { openStore, openStoreReader, type Store, type StoreReader } from '../store/open-store.ts'
import type { Engine, EngineLimits } from '../sync/engine.ts'
import { type FileLog, silentFileLog } from '../sync/file-log.ts'
import { keepRetryAfter, recallRetryAfter } from '../sync/kept-retry-after.ts'
import { type MetricsSink, noMetrics } from '../sync/metrics-sink.ts'
import { examineInThread, observeInThreads } from '../sync/observe/observe-in-threads.ts'
import { createProgress } from '../sync/progress.ts'
import type { ReportContext } from '../sync/report/report.ts'
import { createLazyService, type LazyService } from './lazy-service.ts'
import type { OpenServiceInput } from './open-service.ts'
import { realPathOf } from './real-path.ts'
import type { Settings } from './settings/settings.ts'

/** After a request to stop, uploads under way may end for so long. */
const GRACE_MS = 20_000

export interface OpenedEngine extends AsyncDisposable {
  readonly engine: Engine
  /** For a report after a run, over the same store and connection. */
  readonly reportContext: ReportContext
  lendLibrary(): Promise<LibraryAccess | null>
}

export interface OpenEngineInput extends OpenServiceInput {
  readonly meter?: MetricsSink
  /** Is told of each file that is sent; by default nobody is. */
  readonly fileLog?: FileLog
  /** How long uploads under way may go on after a request to stop. */
  readonly graceMs?: number
  /** Instead of the one in the state directory. */
  readonly store?: Store
}

/** Composes the engine from the settings and holds the store until it is disposed of. */
export function openEngine(settings: Settings, input: OpenEngineInput): OpenedEngine {
  const store = input.store ?? openStore(settings.stateDir)
  const composed = composeEngine(settings, { ...input, store })
  return {
    ...composed,
    [Symbol.asyncDispose]: async () => {
      // Whatever fails while the service is closed, the store is closed in order.
      using _store = store
      await composed[Symbol.asyncDispose]()
    },
  }
}

export interface ComposeInput extends OpenEngineInput {
  readonly store: Store
  /** Uploads under way are cut some time after this; `signal` if not given. */
  readonly endSignal?: AbortSignal
}

/** The same on a store that the caller holds. */
export function composeEngine(settings: Settings, input: ComposeInput): OpenedEngine {
  const { store } = input
  const origin = originOf(settings)
  const retryAfter = origin === undefined ? undefined : keepRetryAfter(store, origin, systemClock, input.logger)
  const service = createLazyService(settings, { ...input, retryAfter })
  const { limits, ingestion } = settings
  const grace = graceAfter(input.endSignal ?? input.signal, input.graceMs ?? GRACE_MS)
  const engine: Engine = {
    store,
    service,
    observeTree: observeInThreads(limits.checkers),
    openExaminer: examineInThread,
    scanMutex: new Mutex(),
    fs: nodeFileSystem,
    ownDirectories: ownDirectoriesOf(settings),
    clock: systemClock,
    random: Math.random,
    logger: input.logger,
    progress: createProgress(),
    metrics: input.meter ?? noMetrics,
    fileLog: input.fileLog ?? silentFileLog,
    uploads: new PQueue({ concurrency: limits.transfers }),
    inFlight: new Set(),
    signal: input.signal,
    graceSignal: grace.signal,
    limits: engineLimitsOf(settings),
    pollIntervals: ingestion,
    scrubIntervalMs: settings.scrubIntervalMs ?? null,
  }
  return {
    engine,
    reportContext: reportContext(settings, input, store, service),
    lendLibrary: () => service.lendLibrary(input.signal),
    [Symbol.asyncDispose]: async () => {
      grace.end()
      await service[Symbol.asyncDispose]()
    },
  }
}

/** The limits of one run. */
export function engineLimitsOf({ limits }: Settings): EngineLimits {
  return {
    transfers: limits.transfers,
    checkers: limits.checkers,
    inIngestion: limits.inIngestion,
    newPerRun: limits.newPerRun ?? null,
    newPerDay: limits.newPerDay ?? null,
    newBytesPerRun: limits.newBytesPerRun ?? null,
  }
}

export interface OpenedReader extends AsyncDisposable {
  /** Undefined while nothing was ever mirrored. */
  readonly store: StoreReader | undefined
  contextFor(store: StoreReader): ReportContext
}

/** Opens the store for reading beside whoever holds it, and what the report needs besides. */
export function openReader(settings: Settings, input: OpenServiceInput): OpenedReader {
  const store = openStoreReader(settings.stateDir)
  const origin = originOf(settings)
  const retryAfter = store && origin !== undefined ? recallRetryAfter(store, origin, systemClock) : undefined
  const service = createLazyService(settings, { ...input, retryAfter })
  return {
    store,
    contextFor: (reader) => reportContext(settings, input, reader, service),
    [Symbol.asyncDispose]: async () => {
      await service[Symbol.asyncDispose]()
      store?.[Symbol.dispose]()
    },
  }
}

/** Undefined for the embedded library, which never asks to wait. */
function originOf({ service }: Settings): string | undefined {
  return service.kind === 'configured' ? service.origin : undefined
}

/** The state directory and the embedded library's data, wherever links lead; the latter also when a service is configured. */
function ownDirectoriesOf({ stateDir, service }: Settings): string[] {
  return [stateDir, service.dataDir].map((path) => realPathOf('/', path))
}

function graceAfter(signal: AbortSignal, graceMs: number): { signal: AbortSignal; end(): void } {
  const grace = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const onAbort = () => {
    timer = setTimeout(() => grace.abort(signal.reason), graceMs)
  }
  signal.addEventListener('abort', onAbort, { once: true })
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
    observeTree: observeInThreads(settings.limits.checkers),
    fs: nodeFileSystem,
    clock: systemClock,
    logger: input.logger,
    signal: input.signal,
    stateDirectory: settings.stateDir,
    ownDirectories: ownDirectoriesOf(settings),
    listConcurrency: settings.limits.transfers,
  }
}
