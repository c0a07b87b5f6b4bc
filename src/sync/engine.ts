import { isAbsolute, normalize } from 'node:path'
import type PQueue from 'p-queue'
import { z } from 'zod'
import { normalizeLibraryPath } from '../contract/library-path.ts'
import type { AccessContext } from '../contract/records.ts'
import type { Clock, Random } from '../foundation/clock.ts'
import type { Mutex } from '../foundation/concurrency/mutex.ts'
import type { Logger } from '../foundation/logger.ts'
import { boundedNumber } from '../foundation/text/bounds.ts'
import type { FileSystem } from '../local/read/file-system.ts'
import type { OpenRoot } from '../local/read/open-root.ts'
import type { OutageListener } from '../remote/policies/outage.ts'
import type { ServiceClient } from '../remote/service-client.ts'
import { LIMIT_BOUNDS, uploadLimits } from '../rules/limits.ts'
import type { PollIntervals } from '../rules/retry-delay.ts'
import type { Store } from '../store/open-store.ts'
import type { MirrorRow } from '../store/tables/mirrors.ts'
import type { Membership } from './fleet/membership.ts'
import type { IngestionCapacity } from './ingestion/ingestion-capacity.ts'
import type { Progress } from './progress.ts'
import type { OpenRescanner, StartWalk } from './scan/scan-batch.ts'
import type { FileLog, MetricsSink } from './sinks.ts'

/** A connection to the service whose credential has been checked. */
export interface Connection {
  readonly client: ServiceClient
  readonly access: AccessContext
}

/** The service as the engine uses it: its identity, and a connection that opens with the first request. */
export interface Service {
  /**
   * What mirrors are pinned to: the origin, or the embedded library's own identity, which is undefined while that library
   * was never started.
   */
  readonly identity: string | undefined
  /** Where a configured address was given, such as `SHELFD_SERVICE_URL`, for messages. */
  readonly addressFrom?: string
  /** The directory of the library on this computer, for messages. */
  readonly directory?: string
  /** Its identity is known without a request, so that a run without differences sends none. */
  readonly isEmbedded: boolean
  /** What decides which documents the embedded library can read, as a text that changes with it; undefined for a configured service. */
  describeReaders?(): string
  /** Checks the credential at the first call (4.1); later calls return the same connection. */
  connect(signal: AbortSignal): Promise<Connection>
  /** Calls `listener` with an outage under way, then with each failed or late try of one, and with null once the service answers. */
  onOutage(listener: OutageListener): Disposable
  /** Closes the connection; the next call opens a new one and checks the credential as it is then. */
  disconnect(): Promise<void>
  /** Does the same without waiting for requests in flight, whose sockets may be dead. */
  reset(): Promise<void>
}

/** One mirror as configured or named on the command line. */
export const mirrorSettings = z.object({
  name: z.string().min(1, 'must not be empty'),
  path: z
    .string()
    .refine((path) => isAbsolute(path) && normalize(path) === path, 'must be an absolute path without ".."'),
  /** Identifier or exact name. */
  library: z.string().min(1, 'must not be empty'),
  /** Create the library if it is missing: only in the embedded service, where nobody else can create it. */
  mayCreateLibrary: z.boolean(),
  remotePath: z
    .string()
    .refine((path) => normalizeLibraryPath(path) === path, 'must be a library path such as /Papers'),
  ignore: z.array(z.string()).readonly(),
  include: z.array(z.string()).readonly(),
  maxSizeBytes: boundedNumber(LIMIT_BOUNDS.sizeBytes).nullable(),
  oneFileSystem: z.boolean(),
  emptyFiles: z.enum(['upload', 'skip']),
  /** How long a file must stay unchanged before it is read again after it changed while it was read. */
  settleMs: boundedNumber(LIMIT_BOUNDS.durationMs),
  /** `sync DIR` created this mirror; the configuration names the others. */
  isAdHoc: z.boolean(),
  /** What the directory holds, if its first sync needs a confirmation because it is so much; otherwise null. */
  breadth: z.string().nullable(),
})

export const engineLimits = uploadLimits.extend({
  transfers: boundedNumber(LIMIT_BOUNDS.transfers),
  checkers: boundedNumber(LIMIT_BOUNDS.checkers),
  inIngestion: boundedNumber(LIMIT_BOUNDS.inIngestion),
})

export type MirrorSettings = Readonly<z.infer<typeof mirrorSettings>>
export type EngineLimits = Readonly<z.infer<typeof engineLimits>>

/** The commands that a configuration names before and after the work on a mirror's directory, such as one that mounts it. */
export interface Hooks {
  has(mirror: string): boolean
  /** Runs the command of a moment, if there is one; returns why it failed. Throws UsageError for one that others can change. */
  run(
    moment: 'before' | 'after',
    mirror: { readonly name: string; readonly path: string; readonly isDryRun: boolean },
    variables: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<string | undefined>
}

/**
 * What the stages work with. Service, disk, clock and randomness are parameters, so that the engine can run against anything.
 */
export interface Engine {
  readonly store: Store
  readonly service: Service
  readonly startWalk: StartWalk
  readonly openRescanner: OpenRescanner
  /** Held during a scan, so that one mirror is scanned at a time. */
  readonly scanMutex: Mutex
  readonly fs: FileSystem
  /** Real paths of the directories that hold the program's own data. */
  readonly ownDirectories: readonly string[]
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly progress: Progress
  readonly metrics: MetricsSink
  readonly fileLog: FileLog
  /** Runs the uploads of all mirrors, `transfers` at the same time. */
  readonly uploads: Pick<PQueue, 'add' | 'pending' | 'size'>
  /** Contents of all mirrors whose upload is planned or in flight; others that the store calls `sending` were cut off. */
  readonly inFlight: Set<number>
  /** What is in ingestion over all mirrors. */
  readonly ingestion: IngestionCapacity
  /** Aborted when no new work may start. */
  readonly signal: AbortSignal
  /** Aborted some time after `signal`, when uploads in flight must end as well. */
  readonly graceSignal: AbortSignal
  readonly limits: EngineLimits
  readonly pollIntervals: PollIntervals
  /** The interval at which every file is hashed again; null: never. */
  readonly scrubIntervalMs: number | null
  /** The hosts that share a ledger with this one; undefined for a store alone. */
  readonly fleet?: Membership | undefined
  readonly hooks?: Hooks | undefined
}

/** A pinned mirror whose root is the one it is pinned to; it is good while that is open. */
export interface OpenMirror {
  readonly row: MirrorRow
  readonly settings: MirrorSettings
  readonly root: OpenRoot
  /** The store has not pinned the root in `row` yet: the user accepted it, or its birth time has become known. */
  readonly mustPinRoot: boolean
  /** The program's own directories below the root, relative to it. */
  readonly ownDirectories: readonly string[]
  readonly runId: number
  /** Throws AccessError unless service, tenant and library are the pinned ones; nothing is recorded before. */
  readonly verify: () => Promise<void>
}

/** One mirror and the connection to its service: what each stage that sends takes. */
export interface MirrorContext {
  readonly engine: Engine
  readonly mirror: OpenMirror
  readonly connection: Connection
}
