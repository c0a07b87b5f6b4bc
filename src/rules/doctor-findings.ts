import type { AccessContext, LibrarySummary } from '../contract/records.ts'
import type { ErrorCode } from '../foundation/errors.ts'
import { groupDigits } from '../foundation/text/safe-text.ts'
import { DAY_MS, isoDate } from '../foundation/text/times.ts'
import { formatSize } from '../foundation/text/units.ts'
import { RESERVE_BYTES } from './limits.ts'
import { mayUpload } from './mirror-activity.ts'

/** `unchecked`: not checked, because another check failed; `warning`: a person should know; `failed`: a person must act. */
export type Level = 'ok' | 'unchecked' | 'warning' | 'failed'

export interface Finding {
  readonly level: Level
  readonly message: string
  /** A command to run, or a step to take. */
  readonly remedy?: string | undefined
  /** The code of the error that other commands would report. */
  readonly code?: ErrorCode | undefined
}

export function ok(message: string): Finding {
  return { level: 'ok', message }
}

export function warning(message: string, remedy?: string): Finding {
  return { level: 'warning', message, remedy }
}

export function failed(message: string, { remedy, code }: Pick<Finding, 'remedy' | 'code'>): Finding {
  return { level: 'failed', message, remedy, code }
}

/** Certificates are usually renewed earlier than this before their end. */
const EXPIRES_SOON_MS = 14 * DAY_MS

/** Call it for a certificate that is trusted. */
export function assessCertificate(validToMs: number, nowMs: number): Finding {
  return assessExpiry('trusted, valid', 'ask whoever runs the service to renew it', { validToMs, nowMs })
}

/** Never returns `failed`, because the service decides whether it accepts the certificate. */
export function assessClientCertificate(validToMs: number, nowMs: number): Finding {
  const remedy = 'have it renewed, and replace the files of service.clientCertificate'
  return assessExpiry('client certificate valid', remedy, { validToMs, nowMs })
}

function assessExpiry(
  what: string,
  remedy: string,
  { validToMs, nowMs }: { validToMs: number; nowMs: number },
): Finding {
  const until = `${what} until ${isoDate(validToMs)}`
  if (validToMs - nowMs > EXPIRES_SOON_MS) return ok(until)
  const days = Math.max(0, Math.floor((validToMs - nowMs) / DAY_MS))
  return warning(`${until}: ${days === 1 ? '1 day' : `${days} days`} left`, remedy)
}

/** The rights that a mirror needs: each in the `access` of its library, or as an ability for all libraries. */
const NEEDED_RIGHTS = [
  { right: 'read', ability: 'library.all.read' },
  { right: 'resource.create', ability: 'library.all.resource.create' },
  { right: 'update', ability: 'library.all.update' },
] as const

/** Lists the rights that a mirror needs and the credential lacks, separated by commas; empty if it lacks none. */
export function lackingRights(library: LibrarySummary, abilities: readonly string[]): string {
  const lacking = NEEDED_RIGHTS.filter(
    ({ right, ability }) => !library.access.includes(right) && !abilities.includes(ability),
  )
  return lacking.map(({ right }) => right).join(', ')
}

export function assessRights(library: LibrarySummary, abilities: readonly string[]): Finding {
  const names = lackingRights(library, abilities)
  if (names === '') return ok(`${library.name}: may be listed, written and added to`)
  const remedy = 'create a token with these rights for the library, on the Access Tokens page of the service'
  return failed(`${library.name}: the credential lacks ${names}`, { code: 'right-missing', remedy })
}

/** Warns about rights that the credential lacks, or should not have. */
export function listCredentialWarnings(access: AccessContext): string[] {
  const { abilities, interfaces, libraries } = access
  const rights = new Set([...abilities, ...libraries.flatMap((library) => library.access)])
  const deleting = [...rights].filter((right) => right.endsWith('.delete'))
  const canCreate =
    abilities.includes('library.all.resource.create') || libraries.some((library) => mayUpload(library, access))
  return [
    ...(deleting.length > 0 ? [`this credential may delete (${deleting.join(', ')}); shelfd never needs that`] : []),
    ...(interfaces.includes('api') ? [] : ['this credential is not enabled for the API interface']),
    ...(canCreate ? [] : ['this credential may not create resources in any library; nothing can be sent']),
  ]
}

/** `source` names the setting or file that the credential came from. */
export function assessCredential(access: AccessContext, source: string): Finding[] {
  const { tenant, user } = access
  const warnings = listCredentialWarnings(access).map((text) =>
    warning(text, 'create a token with fewer or other rights'),
  )
  return [ok(`${user?.name ?? 'no user'}, tenant ${tenant.name}, token from ${source}`), ...warnings]
}

/** Smaller differences mean nothing: the service's header `Date` has whole seconds, and its answer takes some time. */
const MIN_WARNED_MS = 5_000
/** From this difference on, certificates and waiting times are misread. */
const MIN_FAILED_MS = 5 * 60_000
const CLOCK_REMEDY = 'sudo timedatectl set-ntp true'

/** `aheadMs` is undefined if the service states no time. */
export function assessClock(aheadMs: number | undefined): Finding {
  if (aheadMs === undefined) return warning('the service states no time to compare with')
  const text = `${aheadMs < 0 ? '-' : '+'}${(Math.abs(aheadMs) / 1_000).toFixed(1)} s beside the service`
  const distanceMs = Math.abs(aheadMs)
  if (distanceMs < MIN_WARNED_MS) return ok(text)
  if (distanceMs < MIN_FAILED_MS) return warning(`${text}: times in reports and logs are wrong`, CLOCK_REMEDY)
  return failed(`${text}: certificates and waiting times are misread`, { remedy: CLOCK_REMEDY })
}

/** With less free space, the disk may soon be full. */
const MIN_FREE_BYTES = 2 ** 30

export function assessDisk(directory: string, freeBytes: number): Finding {
  const text = `${formatSize(freeBytes)} free at ${directory}`
  if (freeBytes >= MIN_FREE_BYTES) return ok(text)
  const remedy = 'free space there, or choose another directory (stateDir, dataDir)'
  if (freeBytes >= RESERVE_BYTES) return warning(text, remedy)
  return failed(`${text}, and ${formatSize(RESERVE_BYTES)} are kept in reserve: nothing is sent`, {
    code: 'disk-full',
    remedy,
  })
}

export interface WatchUse {
  readonly used: number
  readonly limit: number
}

interface WatchNeed {
  /** Directories of all mirrors; each takes one watch. */
  readonly directories: number
  /** The daemon watches the mirrors, so their watches are among the used ones. */
  readonly isWatching: boolean
}

const MIN_PROPOSED_WATCHES = 524_288
const MAX_USED_SHARE = 0.9

/** Returns a limit of watches to propose instead of `limit`. */
export function proposedWatches(limit: number, directories = 0): number {
  return Math.max(limit * 2, directories * 2, MIN_PROPOSED_WATCHES)
}

/** Warns at most: without enough watches the daemon scans instead, so that changes are found later but not lost. */
export function assessWatches({ used, limit }: WatchUse, { directories, isWatching }: WatchNeed): Finding {
  const text = `${groupDigits(used)} of ${groupDigits(limit)} used`
  const wanted = used + (isWatching ? 0 : directories)
  if (wanted <= limit * MAX_USED_SHARE) return ok(text)
  const need = isWatching ? '' : `, and the mirrors need ${groupDigits(directories)}`
  const remedy = `sudo sysctl fs.inotify.max_user_watches=${proposedWatches(limit, directories)}`
  return warning(`${text}${need}: what is not watched is scanned instead`, remedy)
}

/** The daemon's state as the service manager of the system reports it. */
export type ManagerState = 'running' | 'stopped' | 'not-installed'

/** `not-installed` is no failure: a person may start the daemon without a service manager. */
export function assessServiceManager(state: ManagerState, file: string, isSystem = false): Finding {
  switch (state) {
    case 'running':
      return ok(`runs the daemon (${file})`)
    case 'stopped':
      return failed(`the daemon is installed and does not run (${file})`, {
        remedy: isSystem ? 'sudo shelfd service start --system' : 'shelfd service start',
      })
    case 'not-installed':
      return ok('does not start the daemon; "shelfd service install" would have it do so')
  }
}

interface ConfiguredMirrors {
  readonly mirrors: number
  /** Names of the mirrors with a schedule. */
  readonly scheduled: readonly string[]
}

/** Only schedules need a daemon: `shelfd sync` sends everything else. */
export function assessMissingDaemon({ mirrors, scheduled }: ConfiguredMirrors): Finding {
  if (mirrors === 0) return ok('not running; there is no mirror to keep up to date')
  const remedy = 'shelfd service install'
  if (scheduled.length === 0) return warning('not running: files are sent only by "shelfd sync"', remedy)
  const names = scheduled.map((name) => `"${name}"`).join(', ')
  return failed(`not running, so the schedule of ${names} has no effect`, { remedy })
}
