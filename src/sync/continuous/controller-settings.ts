import type { ScanIntervals } from '../../rules/scan-times.ts'
import type { MirrorSettings } from '../engine.ts'
import type { WatchMeans } from './mirror-watch.ts'

/** The settings of one mirror controller. */
export interface ControllerSettings {
  readonly mirror: MirrorSettings
  /** Null: the mirror is not watched. */
  readonly watch: WatchMeans | null
  readonly scanIntervals: ScanIntervals
  /** New contents within this time (wall clock) count for the limits of a run. */
  readonly runSpanMs: number
}
