import { realpathSync } from 'node:fs'
import { basename } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Clock, systemClock } from '../../src/foundation/clock.ts'
import { Mutex } from '../../src/foundation/concurrency/mutex.ts'
import { type Logger, silentLogger } from '../../src/foundation/logger.ts'
import { type FileSystem, nodeFileSystem } from '../../src/local/read/file-system.ts'
import { createServiceClient } from '../../src/remote/create-client.ts'
import type { OutageListener } from '../../src/remote/policies/outage.ts'
import type { ServiceClient } from '../../src/remote/service-client.ts'
import { openStore, type Store, type StoreReader } from '../../src/store/open-store.ts'
import type { Connection, Engine, EngineLimits, MirrorSettings, Service } from '../../src/sync/engine.ts'
import { IngestionCapacity } from '../../src/sync/ingestion/ingestion-capacity.ts'
import { CAREFUL_PASS, type PassOptions } from '../../src/sync/pass.ts'
import { createProgress } from '../../src/sync/progress.ts'
import { type MirrorReport, report } from '../../src/sync/report/report.ts'
import type { ReportRow } from '../../src/sync/report/report-entry.ts'
import { type RunResult, runSync } from '../../src/sync/run/run-sync.ts'
import type { StartWalk } from '../../src/sync/scan/scan-batch.ts'
import { createScanner, scopeAt, walkTree } from '../../src/sync/scan/scan-directory.ts'
import { rescanInThread, walkByThreads } from '../../src/sync/scan/walk-by-checkers.ts'
import { type FileLog, noMetrics, silentFileLog } from '../../src/sync/sinks.ts'
import { openUploadQueues } from '../../src/sync/upload/parallel-uploads.ts'
import { rescanHere } from '../instruments/simulation/program.ts'
import { type FaultyOptions, type FaultyService, startFaultyService } from './faulty-service.ts'
import { type Tree, temporaryDirectory, writeTree } from './temporary.ts'

export interface EngineOptions {
  readonly stateDir?: string
  readonly limits?: Partial<EngineLimits>
  /** The service is taken for the library on this computer. */
  readonly isEmbedded?: boolean
  readonly clock?: Clock
  readonly logger?: Logger
  readonly fs?: FileSystem
  readonly signal?: AbortSignal
  /** Cuts the uploads under way. */
  readonly graceSignal?: AbortSignal
  readonly scrubIntervalMs?: number
  readonly pollIntervals?: Partial<Engine['pollIntervals']>
  readonly fileLog?: FileLog
  /** Walks and hashes in threads as the program does; otherwise in this thread, which is quicker for few files. */
  readonly inThreads?: boolean
  /** Puts something around the real client. */
  readonly wrapClient?: (client: ServiceClient) => ServiceClient
}

/** The whole engine in this process, with a client whose retry delays are short. */
export interface TestEngine extends AsyncDisposable {
  readonly engine: Engine
  readonly store: Store
  readonly stateDir: string
  sync(mirrors: readonly MirrorSettings[], options?: Partial<PassOptions>): Promise<RunResult>
  report(mirrors: readonly MirrorSettings[], options?: WantedReport): Promise<WholeReport>
}

interface WantedReport {
  readonly isOffline?: boolean
  /** Download and compare every sent content. */
  readonly verifies?: boolean
  /** Walks the directory in place of the engine's walk. */
  readonly startWalk?: StartWalk
}

export interface WholeReport extends Omit<MirrorReport, 'rows'> {
  readonly rows: readonly ReportRow[]
}

/** Opens an engine on a service; it is closed with the test at the latest. */
export function openTestEngine(
  server: { readonly url: string; readonly token: string },
  options: EngineOptions = {},
): TestEngine {
  const stateDir = options.stateDir ?? temporaryDirectory()
  const store = openStore(stateDir)
  const service = testService(server, options)
  const signal = options.signal ?? new AbortController().signal
  const { fs = nodeFileSystem, clock = systemClock } = options
  const limits = {
    transfers: 4,
    checkers: 2,
    inIngestion: 5_000,
    newPerRun: null,
    newPerDay: null,
    newBytesPerRun: null,
  }
  const engine: Engine = {
    store,
    service,
    startWalk: options.inThreads ? walkByThreads(2) : observeHere(store, fs, clock),
    // Faults of a file system do not reach a thread.
    openRescanner: options.fs ? rescanHere(store, fs, clock) : rescanInThread,
    scanMutex: new Mutex(),
    fs,
    clock,
    random: Math.random,
    logger: options.logger ?? silentLogger,
    progress: createProgress(),
    metrics: noMetrics,
    fileLog: options.fileLog ?? silentFileLog,
    ...openUploadQueues(options.limits?.transfers ?? limits.transfers, service),
    inFlight: new Set(),
    ingestion: new IngestionCapacity(),
    signal,
    graceSignal: options.graceSignal ?? new AbortController().signal,
    limits: { ...limits, ...options.limits },
    pollIntervals: { firstPollMs: 5, maxPollMs: 50, deadlineMs: 3_600_000, ...options.pollIntervals },
    ownDirectories: [stateDir],
    scrubIntervalMs: options.scrubIntervalMs ?? null,
  }
  let isClosed = false
  const close = async () => {
    if (isClosed) return
    isClosed = true
    await service.close()
    store[Symbol.dispose]()
  }
  onTestFinished(close)
  return {
    engine,
    store,
    stateDir,
    sync: (mirrors, pass = {}) => runSync(engine, mirrors, { waitMs: 100_000, ...CAREFUL_PASS, ...pass }),
    report: (mirrors, options = {}) => reportOnce(engine, mirrors, options),
    [Symbol.asyncDispose]: close,
  }
}

interface StartedEngine {
  readonly service: FaultyService
  readonly tested: TestEngine
  readonly engine: Engine
  readonly store: Store
  /** A mirror of a new directory with the files of the tree. */
  readonly mirror: MirrorSettings
}

/** Starts a service with an engine on it, and makes a mirror; all of it ends with the test. */
export async function startEngine(
  tree: Tree = {},
  options: EngineOptions & { readonly service?: FaultyOptions; readonly mirror?: Partial<MirrorSettings> } = {},
): Promise<StartedEngine> {
  const service = await startFaultyService(options.service)
  const mirror = mirrorOf(writeTree(temporaryDirectory(), tree), options.mirror)
  const tested = openTestEngine(service, options)
  return { service, tested, engine: tested.engine, store: tested.store, mirror }
}

/** A mirror of a directory into the library "Test", which is created when it is absent. */
export function mirrorOf(directory: string, options: Partial<MirrorSettings> = {}): MirrorSettings {
  return {
    name: basename(directory),
    path: realpathSync(directory),
    library: 'Test',
    mayCreateLibrary: true,
    remotePath: `/${basename(directory)}`,
    ignore: [],
    include: [],
    maxSizeBytes: null,
    oneFileSystem: false,
    emptyFiles: 'upload',
    settleMs: 0,
    isAdHoc: true,
    breadth: null,
    ...options,
  }
}

/** The account of a run's only mirror. */
export function accountOf({ summary }: RunResult): RunResult['summary']['mirrors'][number] {
  const mirror = summary.mirrors[0]
  if (!mirror) throw new Error('The summary has no mirror')
  return mirror
}

/** The walk of one thread, without the thread; faults of `fs` reach it. */
function observeHere(store: StoreReader, fs: FileSystem, clock: Clock): StartWalk {
  return async function* scanMirror(options, signal) {
    const scanner = createScanner(store, options, { fs, clock })
    yield* walkTree(scanner, [{ path: '', scope: scopeAt(scanner, '') }], () => signal.throwIfAborted())
    signal.throwIfAborted()
  }
}

function testService(server: { readonly url: string; readonly token: string }, options: EngineOptions) {
  const listeners = new Set<OutageListener>()
  const client = createServiceClient({
    origin: server.url,
    token: server.token,
    clock: systemClock,
    random: Math.random,
    logger: options.logger ?? silentLogger,
    connections: 12,
    retry: { attempts: 10, firstDelayMs: 1, maxDelayMs: 20 },
    onOutage: (outage) => {
      for (const listener of listeners) listener(outage)
    },
  })
  const wrapped = options.wrapClient?.(client) ?? client
  let connection: Promise<Connection> | undefined
  const service: Service & { close(): Promise<void> } = {
    identity: client.origin,
    isEmbedded: options.isEmbedded ?? false,
    connect: (signal) => {
      if (connection) return connection
      const opening = wrapped.checkAccess(signal).then((access) => ({ client: wrapped, access }))
      connection = opening
      // The next one tries anew, as in the program.
      opening.catch(() => {
        if (connection === opening) connection = undefined
      })
      return opening
    },
    onOutage: (listener) => {
      listeners.add(listener)
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
    disconnect: async () => {
      connection = undefined
    },
    reset: async () => {
      connection = undefined
    },
    close: () => client.close(),
  }
  return service
}

async function reportOnce(
  engine: Engine,
  mirrors: readonly MirrorSettings[],
  { isOffline = false, verifies = false, startWalk = engine.startWalk }: WantedReport,
): Promise<WholeReport> {
  const onVerified = verifies ? () => {} : undefined
  const { store, service, fs, clock, logger, signal, ownDirectories } = engine
  const context = { store, service, startWalk, fs, clock, logger, signal, ownDirectories }
  const reported = mirrors.map((settings) => {
    const row = store.mirrors.findByName(settings.name)
    if (!row) throw new Error(`The mirror "${settings.name}" was never used`)
    return { row, settings }
  })
  store.report.forgetListed()
  const places = { stateDirectory: store.directory, listConcurrency: 4 }
  for await (const mirror of report({ ...context, ...places }, reported, { isOffline, onVerified })) {
    return { ...mirror, rows: [...mirror.rows] }
  }
  throw new Error('No mirror was reported on')
}
