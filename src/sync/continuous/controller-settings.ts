import type { ScanIntervals } from '../../rules/next-scan.ts'
import type { MirrorSettings } from '../engine.ts'
import type { WatchMeans } from './mirror-watch.ts'

/** How one mirror is kept up to date. */
export interface ControllerSettings {
  readonly mirror: MirrorSettings
  /** Null: it is not watched. */
  readonly watch: WatchMeans | null
  readonly pace: ScanIntervals
  /** New contents of this span (wall clock) count for the limits of a run. */
  readonly runSpanMs: number
}
