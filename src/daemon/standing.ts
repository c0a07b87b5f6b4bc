import type { ErrorCode } from '../foundation/errors.ts'
import type { ServiceStatus } from '../sync/continuous/service-connection.ts'

/** What the daemon does for one mirror now. `halted`: an operator must act; `waiting`: it goes on by itself. */
export type MirrorState = 'starting' | 'scanning' | 'idle' | 'sending' | 'waiting' | 'held' | 'halted'

/** Which watcher announces changes: one watch a directory, a library, or scans only. */
export type BackEnd = 'node' | 'parcel' | 'chokidar' | 'poll'

/** Where one mirror of the daemon stands; times are wall-clock milliseconds. */
export interface MirrorStanding {
  readonly name: string
  readonly path: string
  readonly state: MirrorState
  /** Why it is waiting, held or halted, and what resolves that. */
  readonly reason: {
    readonly code: ErrorCode | 'paused' | 'maintenance' | 'scheduled'
    readonly message: string
  } | null
  /** Null until it watches, and for a mirror that is not watched. */
  readonly watcher: BackEnd | null
  /** The system allows no more watches: the mirror is scanned every `pollInterval` instead. */
  readonly isWatchLimited: boolean
  /** Changed files that have not rested for the mirror's `settle` yet. */
  readonly settling: number
  /** Changes since the daemon started that only a scan found. */
  readonly missedByWatcher: number
  readonly lastScanAt: number | null
  /** When last everything that was to be sent was sent. */
  readonly lastSuccessAt: number | null
  /** Next scan or batch that is planned. */
  readonly nextRunAt: number | null
}

/** Where the whole daemon stands: what status, health, metrics and the service manager are told. */
export interface DaemonStanding {
  readonly pid: number
  readonly startedAt: number
  readonly service: ServiceStatus
  /** The disk of the store is full: nothing is sent until there is room. */
  readonly isStoreFull: boolean
  /** Uploads under way, and resources in ingestion. */
  readonly uploading: number
  readonly inIngestion: number
  readonly mirrors: readonly MirrorStanding[]
}

/** One line for people: what the service manager shows. */
export function describeStanding({ service, mirrors, uploading, inIngestion, isStoreFull }: DaemonStanding): string {
  const troubled = mirrors.filter(({ state }) => state === 'halted')
  const parts = [
    `${mirrors.length} ${mirrors.length === 1 ? 'mirror' : 'mirrors'}`,
    troubled.length > 0 ? `halted: ${troubled.map(({ name }) => name).join(', ')}` : '',
    isStoreFull ? 'the disk of the store is full' : '',
    service.state === 'away' ? 'the service is away' : '',
    service.state === 'refused' ? 'the credential was refused' : '',
    uploading > 0 ? `${uploading} uploading` : '',
    inIngestion > 0 ? `${inIngestion} in ingestion` : '',
  ]
  return parts.filter((part) => part !== '').join(', ')
}
