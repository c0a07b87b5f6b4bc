import type { CallHandlers, LogLine, SettingsInForce } from '../contract/dashboard.ts'
import type { mirrorEdits } from '../contract/mirror-edits.ts'
import type { FleetView } from '../ledger/fleet-view.ts'
import type { OutageListener } from '../remote/policies/outage.ts'
import type { DaemonStatus } from '../sync/continuous/controller-status.ts'
import type { Service } from '../sync/engine.ts'
import type { Failures } from '../sync/operator/quarantine.ts'
import type { ListedMirror } from '../sync/reading/read-overview.ts'
import type { StateReader } from '../sync/reading/state-reader.ts'

/** The last lines of the daemon's log. */
export interface RecentLog {
  /** The number of the last line; 0 if there is none. */
  readonly last: number
  list(): readonly LogLine[]
}

/** The calls that show and change the mirrors in the configuration file. */
export type MirrorEdits = Pick<CallHandlers, keyof typeof mirrorEdits>

/** The sources of the dashboard's data, and the actions that it offers. */
export interface DashboardSources {
  readonly reader: StateReader
  readonly version: string
  /** The origin of the service, or the data directory of the embedded library. */
  readonly serviceName: string
  /** Null when no daemon serves the dashboard. */
  readonly log: RecentLog | null
  /** Opens a view of the ledger, which the dashboard closes; undefined if this host shares no ledger. */
  readonly openFleet: (() => Promise<FleetView>) | undefined
  /** Returns null when no daemon runs. */
  daemonStatus(): Promise<DaemonStatus | null>
  /** Returns the mirrors that are configured or in the store; none while the configuration cannot be read. */
  listMirrors(): readonly ListedMirror[]
  settings(): SettingsInForce
  service(): Service
  pause(names: readonly string[]): Promise<void>
  resume(names: readonly string[]): Promise<void>
  /** Syncs these mirrors, or all if none is named, until the run ends. `onOutage` receives the outages for which it waits. */
  sync(names: readonly string[], signal: AbortSignal, onOutage: OutageListener): Promise<void>
  retry(failures: Failures): Promise<number>
  setAside(failures: Failures): Promise<number>
  /** Returns what is known about a path, relative to its mirror, as pairs of a label and a text. */
  explain(mirror: string, path: string, signal: AbortSignal): Promise<readonly (readonly [string, string])[]>
  /** Opens an absolute path with the user's program for it; returns false without such a program or without a desktop. */
  openPath(path: string): Promise<boolean>
  readonly edits: MirrorEdits
}
