import type { ErrorCode } from '../../foundation/errors.ts'
import type { ScanPace } from '../../rules/next-scan.ts'
import type { MirrorSettings } from '../engine.ts'
import type { WatchMeans } from './mirror-watch.ts'

/** How one mirror is kept up to date. */
export interface ControllerSettings {
  readonly mirror: MirrorSettings
  /** Null: it is not watched. */
  readonly watch: WatchMeans | null
  readonly pace: ScanPace
  /** New contents of this span (wall clock) count for the limits of a run. */
  readonly runSpanMs: number
}

/** Why nothing is sent although there may be something. */
export type HoldCode = 'paused' | 'maintenance' | 'scheduled'

export interface WaitReason {
  readonly code: ErrorCode | HoldCode
  readonly message: string
}

export type ControllerState = 'starting' | 'scanning' | 'idle' | 'sending' | 'waiting' | 'held' | 'halted'

/** Where a keeper stands; times are wall clock. */
export interface ControllerStatus {
  readonly state: ControllerState
  readonly reason: WaitReason | null
  readonly watcher: 'node' | 'parcel' | 'chokidar' | 'poll' | null
  readonly isWatchLimited: boolean
  readonly settling: number
  readonly missedByWatcher: number
  readonly lastScanAt: number | null
  readonly lastSuccessAt: number | null
  readonly nextScanAt: number | null
}
