import type PQueue from 'p-queue'
import { z } from 'zod'
import type { AccessContext } from '../contract/records.ts'
import type { Clock, Random } from '../foundation/clock.ts'
import type { Logger } from '../foundation/logger.ts'
import type { Mutex } from '../foundation/mutex.ts'
import type { FileSystem } from '../local/read/file-system.ts'
import type { OutageListener } from '../remote/policies/outage.ts'
import type { ServiceClient } from '../remote/service-client.ts'
import type { PollIntervals } from '../rules/poll-interval.ts'
import { uploadLimits } from '../rules/quota.ts'
import type { MirrorRow } from '../store/mirrors.ts'
import type { Store } from '../store/open-store.ts'
import type { FileLog } from './file-log.ts'
import type { MetricsSink } from './metrics-sink.ts'
import type { ObserveTree, OpenExaminer } from './observe/observation.ts'
import type { Progress } from './progress.ts'

/** An open line to the service, its credential checked. */
export interface Connection {
  readonly client: ServiceClient
  readonly access: AccessContext
}

/** The service as the engine sees it: whose it is, and a line that is opened when the first request needs it. */
export interface Service {
  /**
   * What mirrors are pinned to: the origin, or the embedded library's own identity, which is undefined while that library
   * was never started.
   */
  readonly identity: string | undefined
  /** Its identity can be known without asking: a quiet run may do without any request. */
  readonly isEmbedded: boolean
  /** Checks the credential on first use (4.1); later calls give the same connection. */
  connect(signal: AbortSignal): Promise<Connection>
  /** Calls `listener` when the service gives no usable answers, with each try, and with null once it answers again. */
  onOutage(listener: OutageListener): Disposable
  /** Closes the line; the next call opens and checks a new one, with the credential as it is then. */
  disconnect(): Promise<void>
  /** The same without waiting for requests under way, whose sockets may be dead. */
  reset(): Promise<void>
}

/** One mirror as configured or named on the command line. */
export const mirrorSettings = z.object({
  name: z.string(),
  path: z.string(),
  /** Identifier or exact name. */
  library: z.string(),
  /** The library is made when it is not there: only in the embedded service, which has nobody else to ask. */
  mayCreateLibrary: z.boolean(),
  remotePath: z.string(),
  ignore: z.array(z.string()).readonly(),
  maxSizeBytes: z.number().nonnegative().nullable(),
  oneFileSystem: z.boolean(),
  emptyFiles: z.enum(['upload', 'skip']),
  /** Made by `sync DIR`; the configuration names the others. */
  isAdHoc: z.boolean(),
  /** What the directory holds, when it is so much that its first sync needs a confirmation; otherwise null. */
  breadth: z.string().nullable(),
  /** `link`: a copy is sent again, so that the resource gains its location as well. */
  duplicates: z.enum(['skip', 'link']),
})

export const engineLimits = uploadLimits.extend({
  transfers: z.int().positive(),
  checkers: z.int().positive(),
  inIngestion: z.int().positive(),
})

export type MirrorSettings = Readonly<z.infer<typeof mirrorSettings>>
export type EngineLimits = Readonly<z.infer<typeof engineLimits>>

/** What every stage works with; all that touches the world comes in here. */
export interface Engine {
  readonly store: Store
  readonly service: Service
  readonly observeTree: ObserveTree
  readonly openExaminer: OpenExaminer
  /** One mirror is scanned at a time. */
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
  readonly uploads: Pick<PQueue, 'add' | 'pending'>
  /** Contents whose upload is planned or in flight, of all mirrors; others that the store calls `sending` were cut off. */
  readonly inFlight: Set<number>
  /** Aborted when no new work may begin. */
  readonly signal: AbortSignal
  /** Aborted when uploads under way must end as well: some time after `signal`. */
  readonly graceSignal: AbortSignal
  readonly limits: EngineLimits
  readonly pollIntervals: PollIntervals
  /** Every file is hashed again when the last time is so long ago; null: never. */
  readonly scrubIntervalMs: number | null
}

/** A mirror that is pinned and whose root was found to be the one it was pinned to. */
export interface OpenMirror {
  readonly row: MirrorRow
  readonly settings: MirrorSettings
  readonly rootRealPath: string
  readonly rootDevice: bigint
  /** The row tells more of the root, or another one, than what is pinned. */
  readonly mustPinRoot: boolean
  /** The program's own directories below the root, relative to it. */
  readonly ownDirectories: readonly string[]
  readonly runId: number
  /** Throws when service, tenant or library are not those that were pinned; nothing is recorded before it has passed. */
  readonly verify: () => Promise<void>
}
