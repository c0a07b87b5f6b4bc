import { type Finding, failed, ok, warning } from './finding.ts'

/** The service manager's part: whether the daemon's definition is installed, and whether it runs. */
export type ServiceState = 'running' | 'stopped' | 'not-installed'

/** Assesses a service manager; a daemon that a person started needs none. */
export function assessServiceState(state: ServiceState, file: string): Finding {
  switch (state) {
    case 'running':
      return ok(`runs the daemon (${file})`)
    case 'stopped':
      return failed(`the daemon is installed and does not run (${file})`, { remedy: 'shelfd service start' })
    case 'not-installed':
      return ok('does not start the daemon; "shelfd service install" would have it do so')
  }
}

/** Mirrors that a daemon would keep up to date. */
export interface Kept {
  readonly mirrors: number
  /** Names of those that have a schedule. */
  readonly scheduled: readonly string[]
}

/** Assesses that no daemon runs: schedules need one; everything else is sent by `shelfd sync` as well. */
export function assessMissingDaemon({ mirrors, scheduled }: Kept): Finding {
  if (mirrors === 0) return ok('not running; there is no mirror to keep up to date')
  const remedy = 'shelfd service install'
  if (scheduled.length === 0) return warning('not running: files are sent only by "shelfd sync"', remedy)
  const names = scheduled.map((name) => `"${name}"`).join(', ')
  return failed(`not running, so the schedule of ${names} has no effect`, { remedy })
}
