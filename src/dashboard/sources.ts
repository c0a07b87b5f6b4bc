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
  /** The number of the last line; 0 without any. */
  readonly last: number
  list(): readonly LogLine[]
}

/** The calls that show and change what is mirrored, by the configuration file. */
export type MirrorEdits = Pick<CallHandlers, keyof typeof mirrorEdits>

/** The sources of the dashboard's data, and the actions that it offers. */
export interface DashboardSources {
  readonly reader: StateReader
  readonly version: string
  /** The origin of the service, or the data directory of the embedded library. */
  readonly serviceName: string
  /** Null when no daemon serves the dashboard. */
  readonly log: RecentLog | null
  /** Opens what the hosts of the ledger published; undefined for a host that shares none. The dashboard closes it. */
  readonly openFleet: (() => Promise<FleetView>) | undefined
  /** Null when no daemon runs. */
  daemonStatus(): Promise<DaemonStatus | null>
  /** Mirrors that are configured or in the store; none while the configuration cannot be read. */
  listMirrors(): readonly ListedMirror[]
  settings(): SettingsInForce
  service(): Service
  pause(names: readonly string[]): Promise<void>
  resume(names: readonly string[]): Promise<void>
  /** Syncs these mirrors, all when none is named; resolves at the end of the run. `onOutage` receives what it waits for. */
  sync(names: readonly string[], signal: AbortSignal, onOutage: OutageListener): Promise<void>
  retry(failures: Failures): Promise<number>
  setAside(failures: Failures): Promise<number>
  /** Describes everything known of a path, relative to its mirror; text by label. */
  explain(mirror: string, path: string, signal: AbortSignal): Promise<readonly (readonly [string, string])[]>
  /** Opens an absolute path with the program of this computer; false without a desktop. */
  openPath(path: string): Promise<boolean>
  readonly edits: MirrorEdits
}
