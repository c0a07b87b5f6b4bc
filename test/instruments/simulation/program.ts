/** The program as it is, composed over a simulated machine: one object a life. */

import type { Clock } from '../../../src/foundation/clock.ts'
import { Mutex } from '../../../src/foundation/concurrency/mutex.ts'
import { type Logger, silentLogger } from '../../../src/foundation/logger.ts'
import type { FileSystem } from '../../../src/local/read/file-system.ts'
import { createServiceClient } from '../../../src/remote/create-client.ts'
import type { OutageListener } from '../../../src/remote/policies/outage.ts'
import { keepRetryAfter, type RetryAfter } from '../../../src/remote/retry-after.ts'
import type { StoreReader } from '../../../src/store/open-store.ts'
import { SENT } from '../../../src/sync/continuous/activity-log.ts'
import type { Connection, Engine, EngineLimits, Service } from '../../../src/sync/engine.ts'
import type { FleetContext, FleetOptions } from '../../../src/sync/fleet/host-session.ts'
import type { Membership } from '../../../src/sync/fleet/membership.ts'
import { IngestionCapacity } from '../../../src/sync/ingestion/ingestion-capacity.ts'
import { createProgress } from '../../../src/sync/progress.ts'
import { rescanEntries } from '../../../src/sync/scan/rescan-entries.ts'
import { emptyBatch, type OpenRescanner, type ScanBatch, type StartWalk } from '../../../src/sync/scan/scan-batch.ts'
import { createScanner, type Scanner, scopeAt, walkTree } from '../../../src/sync/scan/scan-directory.ts'
import { noMetrics } from '../../../src/sync/sinks.ts'
import { openUploadQueues } from '../../../src/sync/upload/parallel-uploads.ts'
import type { Life } from './life.ts'
import { type NetworkHooks, ORIGIN, SimulatedNetwork, TOKEN } from './network.ts'
import type { SimulatedState } from './state.ts'

export interface Machine {
  readonly clock: Clock
  readonly random: () => number
  readonly fs: FileSystem
  readonly state: SimulatedState
  readonly network: NetworkHooks
  readonly limits: EngineLimits
  readonly signal: AbortSignal
  readonly graceSignal: AbortSignal
  /** Where several hosts share a ledger. */
  readonly joinFleet?: (context: FleetContext, service: FleetOptions['service']) => Membership
  /** The program has reported that a file is sent. */
  readonly onReported: (path: string, resourceId: string) => void
}

export const POLL_INTERVALS = { firstPollMs: 2_000, maxPollMs: 60_000, deadlineMs: 3_600_000 }

/** Starts the program, which opens its store as its last process left it. */
export function startProgram(machine: Machine, life: Life): Engine {
  const { fs, random, limits, signal, graceSignal, state, onReported: onTold } = machine
  const clock = clockOf(machine.clock, life)
  const store = state.open(life)
  const set = (key: string, value: string) => store.write(() => store.keyValues.set(key, value))
  const asked = keepRetryAfter({ get: store.keyValues.get, set }, ORIGIN, clock, silentLogger)
  const [ingestion, inFlight] = [new IngestionCapacity(), new Set<number>()]
  const service = { origin: ORIGIN, retryAfter: asked, ingestion, inFlight }
  const fleet = machine.joinFleet?.({ store, clock, random, logger: loggerOf(onTold), signal }, service)
  return {
    store,
    service: serviceOf(machine, { asked, clock, life }),
    startWalk: startWalk(store, fs, clock),
    openRescanner: rescanHere(store, fs, clock),
    scanMutex: new Mutex(),
    fs,
    ownDirectories: ['/state'],
    clock,
    random,
    logger: loggerOf(onTold),
    progress: createProgress(),
    metrics: noMetrics,
    fileLog: { wouldSend() {}, sent: ({ path, resourceId }) => onTold(path, resourceId) },
    ...openUploadQueues(limits.transfers, { isEmbedded: false }),
    inFlight,
    ingestion,
    signal,
    graceSignal,
    limits,
    pollIntervals: POLL_INTERVALS,
    scrubIntervalMs: null,
    fleet,
  }
}

/** The continuous mode logs what it sent. */
function loggerOf(onTold: Machine['onReported']): Logger {
  const info: Logger['info'] = (message, fields) => {
    if (message === SENT) onTold(String(fields?.path), String(fields?.resourceId))
  }
  return { ...silentLogger, info }
}

/** The shortest time that a timer of the system takes. */
const MIN_MS = 1

/** Nothing wakes in a dead program. */
export function clockOf(clock: Clock, life: Life): Clock {
  return {
    nowMs: clock.nowMs,
    monotonicMs: clock.monotonicMs,
    sleep: async (durationMs, signal) => {
      await clock.sleep(Math.max(MIN_MS, durationMs), signal)
      if (life.isDead) await new Promise(() => {})
    },
    startTimer: (durationMs, callback) =>
      clock.startTimer(Math.max(MIN_MS, durationMs), () => void (life.isDead || callback())),
  }
}

/** The walk of the program's threads, in this one. */
function startWalk(store: StoreReader, fs: FileSystem, clock: Clock): StartWalk {
  return (options, signal) => ({
    [Symbol.asyncIterator]: () => walk(createScanner(store, options, { fs, clock }), [''], signal),
    [Symbol.asyncDispose]: async () => {},
  })
}

/** The rescanning thread of the program, in this one. */
export function rescanHere(store: StoreReader, fs: FileSystem, clock: Clock): OpenRescanner {
  return (options) => {
    return {
      async *rescan(work, signal) {
        const scanner = createScanner(store, { ...options, root: work.root }, { fs, clock })
        if (work.kind === 'trees') yield* walk(scanner, work.paths, signal)
        else {
          const batch = emptyBatch()
          for (const some of work.entries) rescanEntries(scanner, some, batch)
          signal.throwIfAborted()
          yield batch
        }
      },
      [Symbol.asyncDispose]: async () => {},
    }
  }
}

async function* walk(scanner: Scanner, paths: readonly string[], signal: AbortSignal): AsyncGenerator<ScanBatch> {
  const stack = paths.map((path) => ({ path, scope: scopeAt(scanner, path) }))
  yield* walkTree(scanner, stack, () => signal.throwIfAborted())
  signal.throwIfAborted()
}

interface Program {
  readonly asked: RetryAfter
  readonly clock: Clock
  readonly life: Life
}

function serviceOf({ network, random }: Machine, { asked, clock, life }: Program): Service {
  // The service does not distinguish the clients of one program.
  const dispatcher = new SimulatedNetwork(network, life)
  const listeners = new Set<OutageListener>()
  const open = () =>
    createServiceClient({
      origin: ORIGIN,
      token: TOKEN,
      clock,
      random,
      logger: silentLogger,
      connections: 8,
      dispatcher,
      retryAfter: asked,
      onOutage: (outage) => {
        for (const listener of listeners) listener(outage)
      },
    })
  let connection: Promise<Connection> | undefined
  const forget = async () => {
    connection = undefined
  }
  return {
    identity: ORIGIN,
    isEmbedded: false,
    connect: (signal) => {
      if (connection) return connection
      const client = open()
      const opening = client.checkAccess(signal).then((access) => ({ client, access }))
      connection = opening
      // The next one tries anew.
      opening.catch(() => {
        if (connection === opening) connection = undefined
      })
      return opening
    },
    onOutage: (listener) => {
      listeners.add(listener)
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
    disconnect: forget,
    reset: forget,
  }
}
