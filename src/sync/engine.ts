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
import type { OpenRoot } from '../local/read/open-and-recheck-root.ts'
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

export interface Connection {
  readonly client: ServiceClient
  readonly access: AccessContext
}

/** The connection opens with the first request. */
export interface Service {
  /** What mirrors are pinned to. It is undefined while the embedded library was never started. */
  readonly identity: string | undefined
  /** Where a configured address was given, such as `SHELFD_SERVICE_URL`, for messages. */
  readonly addressFrom?: string
  /** The directory of the library on this computer, for messages. */
  readonly directory?: string
  readonly isEmbedded: boolean
  /** What decides which documents the embedded library can read, as a text that changes with it; undefined for a configured service. */
  describeReaders?(): string
  /** Checks the credential at the first call; later calls return the same connection. */
  connect(signal: AbortSignal): Promise<Connection>
  /** Calls `listener` with the current outage, then with each failed try, and with null once the service answers. */
  onOutage(listener: OutageListener): Disposable
  /** Closes the connection; the next call opens a new one and checks the credential as it is then. */
  disconnect(): Promise<void>
  /** Like `disconnect`, without waiting for requests in flight, whose sockets may be dead. */
  reset(): Promise<void>
}

export const mirrorSettings = z.object({
  name: z.string().min(1, 'must not be empty'),
  path: z
    .string()
    .refine((path) => isAbsolute(path) && normalize(path) === path, 'must be an absolute path without ".."'),
  library: z.string().min(1, 'must not be empty'),
  /** Create the library if it is missing: only in the embedded service, where no other user can create it. */
  mayCreateLibrary: z.boolean(),
  remotePath: z
    .string()
    .refine((path) => normalizeLibraryPath(path) === path, 'must be a library path such as /Papers'),
  ignore: z.array(z.string()).readonly(),
  include: z.array(z.string()).readonly(),
  maxSizeBytes: boundedNumber(LIMIT_BOUNDS.sizeBytes).nullable(),
  oneFileSystem: z.boolean(),
  emptyFiles: z.enum(['upload', 'skip']),
  gitignore: z.boolean().exactOptional(),
  credentialFiles: z.array(z.string()).readonly().exactOptional(),
  /** How long a file must stay unchanged before it is read again after it changed while it was read. */
  settleMs: boundedNumber(LIMIT_BOUNDS.durationMs),
  isAdHoc: z.boolean(),
  /** If the directory holds so much that its first sync needs a confirmation, what it holds; otherwise null. */
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
  /** Returns why the command failed. Throws UsageError for a program that others can change. */
  run(
    moment: 'before' | 'after',
    mirror: { readonly name: string; readonly path: string; readonly isDryRun: boolean },
    variables: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<string | undefined>
}

/** What the stages work with. Service, disk, clock and randomness are parameters, so that the engine can run against anything. */
export interface Engine {
  readonly store: Store
  readonly service: Service
  readonly startWalk: StartWalk
  readonly openRescanner: OpenRescanner
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
  /** Runs the uploads of all mirrors. */
  readonly uploads: Pick<PQueue, 'add' | 'pending' | 'size' | 'concurrency'>
  /** Runs the uploads that do not fit into one buffer, `transfers` at the same time. */
  readonly largeUploads: Pick<PQueue, 'add'>
  /** Contents of all mirrors whose upload is planned or in flight; others that the store calls `sending` were cut off. */
  readonly inFlight: Set<number>
  readonly ingestion: IngestionCapacity
  readonly signal: AbortSignal
  /** Aborted when the grace period after `signal` is over (app/open-engine.ts), and uploads in flight must end as well. */
  readonly graceSignal: AbortSignal
  readonly limits: EngineLimits
  readonly pollIntervals: PollIntervals
  readonly scrubIntervalMs: number | null
  readonly fleet?: Membership | undefined
  readonly hooks?: Hooks | undefined
  /** Called before a mirror sends new contents into this computer's library. Throws HeldBackError when they are not wanted. */
  readonly beforeUploads?: ((bytes: number) => Promise<void>) | undefined
}

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

export interface MirrorContext {
  readonly engine: Engine
  readonly mirror: OpenMirror
  readonly connection: Connection
}
