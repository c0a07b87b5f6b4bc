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

/** The service that mirrors are sent to. Nothing connects to it before the first call of `connect`. */
export interface Service {
  /** Mirrors are pinned to this identity. It is undefined until the embedded library has been started once. */
  readonly identity: string | undefined
  /** The source of a configured address, such as `SHELFD_SERVICE_URL` or a file, for messages. */
  readonly addressFrom?: string
  /** The directory of the embedded library, for messages. */
  readonly directory?: string
  readonly isEmbedded: boolean
  /** Returns a text that changes when the embedded library can read other documents than before; absent for a configured service. */
  describeReaders?(): string
  /** Checks the credential at the first call; later calls return the same connection. */
  connect(signal: AbortSignal): Promise<Connection>
  /** Calls `listener` with the current outage, then with each failed try, and with null once the service answers. */
  onOutage(listener: OutageListener): Disposable
  /** Closes the connection; the next call of `connect` opens a new one and checks the credential again. */
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
  /** Whether a missing library is created: only in the embedded service, where no other user can create it. */
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
  /** If a file changed while it was read: how long it must stay unchanged before it is read again. */
  settleMs: boundedNumber(LIMIT_BOUNDS.durationMs),
  isAdHoc: z.boolean(),
  /** What the directory holds if its first sync needs a confirmation, such as all home directories; null if it needs none. */
  breadth: z.string().nullable(),
})

export const engineLimits = uploadLimits.extend({
  transfers: boundedNumber(LIMIT_BOUNDS.transfers),
  checkers: boundedNumber(LIMIT_BOUNDS.checkers),
  inIngestion: boundedNumber(LIMIT_BOUNDS.inIngestion),
})

export type MirrorSettings = Readonly<z.infer<typeof mirrorSettings>>
export type EngineLimits = Readonly<z.infer<typeof engineLimits>>

/** The configured commands that run before and after each sync of a mirror, for example to mount its directory. */
export interface Hooks {
  has(mirror: string): boolean
  /** Runs a command. Returns why it failed, undefined if it succeeded or none is configured for the moment. */
  run(
    moment: 'before' | 'after',
    mirror: { readonly name: string; readonly path: string; readonly isDryRun: boolean },
    variables: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<string | undefined>
}

/** What all stages share. Service, file system, clock and randomness are parameters, so that tests can replace them. */
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
  /** Ids of contents whose upload is planned or in flight. The upload of any other content in the state `sending` was cut off. */
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
  /** Called with the size of new contents before the embedded library receives them. Throws HeldBackError if the user declines. */
  readonly beforeUploads?: ((bytes: number) => Promise<void>) | undefined
}

export interface OpenMirror {
  readonly row: MirrorRow
  readonly settings: MirrorSettings
  readonly root: OpenRoot
  /** Whether the store is still to pin the root in `row`: the user accepted it, or the system reports more about it than before. */
  readonly mustPinRoot: boolean
  /** The program's own directories below the root, relative to it. */
  readonly ownDirectories: readonly string[]
  readonly runId: number
  /** Throws AccessError unless service, tenant and library are the pinned ones. A scan records nothing before this call. */
  readonly verify: () => Promise<void>
}

export interface MirrorContext {
  readonly engine: Engine
  readonly mirror: OpenMirror
  readonly connection: Connection
}
