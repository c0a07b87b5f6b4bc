import type { AccessContext, LibrarySummary } from '../contract/records.ts'
import type { ErrorCode } from '../foundation/errors.ts'
import { groupDigits } from '../foundation/text/safe-text.ts'
import { DAY_MS, isoDate } from '../foundation/text/times.ts'
import { formatSize } from '../foundation/text/units.ts'
import { RESERVE_BYTES } from './limits.ts'
import { mayUpload } from './mirror-activity.ts'

/** `unchecked`: another check failed; `warning`: a person should know; `failed`: a person must act. */
export type Level = 'ok' | 'unchecked' | 'warning' | 'failed'

export interface Finding {
  readonly level: Level
  readonly message: string
  /** A command or a step. */
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

/** Authorities usually renew a certificate earlier than this. */
const EXPIRES_SOON_MS = 14 * DAY_MS

/** The certificate is trusted. */
export function assessCertificate(validToMs: number, nowMs: number): Finding {
  return assessExpiry('trusted, valid', 'ask who runs the service to renew it', { validToMs, nowMs })
}

/** The service decides whether the certificate is still accepted. */
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
  const left = Math.max(0, Math.floor((validToMs - nowMs) / DAY_MS))
  return warning(`${until}: ${left === 1 ? '1 day' : `${left} days`} left`, remedy)
}

/** In a library's `access`, or as an ability for all libraries. */
const NEEDED_RIGHTS = [
  { right: 'read', ability: 'library.all.read' },
  { right: 'resource.create', ability: 'library.all.resource.create' },
  { right: 'update', ability: 'library.all.update' },
] as const

/** Names what a mirror needs and the credential may not do, separated by commas; empty if it may do all. */
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

/** Rights that the credential lacks, or should not have. */
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

/** `source`: where the credential came from. */
export function assessCredential(access: AccessContext, source: string): Finding[] {
  const { tenant, user } = access
  const warnings = listCredentialWarnings(access).map((text) =>
    warning(text, 'create a token with fewer or other rights'),
  )
  return [ok(`${user?.name ?? 'no user'}, tenant ${tenant.name}, token from ${source}`), ...warnings]
}

/** The service's `Date` has whole seconds, and the answer took a moment. */
const UNNOTICED_MS = 5_000
/** With a larger difference, certificates and waiting times are misread. */
const HARMFUL_MS = 5 * 60_000
const CLOCK_REMEDY = 'sudo timedatectl set-ntp true'

/** Undefined when the service states no time. */
export function assessClock(aheadMs: number | undefined): Finding {
  if (aheadMs === undefined) return warning('the service states no time to compare with')
  const text = `${aheadMs < 0 ? '-' : '+'}${(Math.abs(aheadMs) / 1_000).toFixed(1)} s beside the service`
  const distanceMs = Math.abs(aheadMs)
  if (distanceMs < UNNOTICED_MS) return ok(text)
  if (distanceMs < HARMFUL_MS) return warning(`${text}: times in reports and logs are wrong`, CLOCK_REMEDY)
  return failed(`${text}: certificates and waiting times are misread`, { remedy: CLOCK_REMEDY })
}

const SOON_FULL_BYTES = 2 ** 30

export function assessDisk(place: string, freeBytes: number): Finding {
  const text = `${formatSize(freeBytes)} free at ${place}`
  if (freeBytes >= SOON_FULL_BYTES) return ok(text)
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

/** Each directory takes one watch. */
interface WatchNeed {
  readonly directories: number
  /** Its watches count as used already. */
  readonly isWatching: boolean
}

const MIN_PROPOSED = 524_288
const MAX_SHARE = 0.9

/** Returns the limit to propose in place of `limit`. */
export function proposedWatches(limit: number, directories = 0): number {
  return Math.max(limit * 2, directories * 2, MIN_PROPOSED)
}

/** Without enough watches the daemon scans, so that changes are found late but not lost. */
export function assessWatches({ used, limit }: WatchUse, { directories, isWatching }: WatchNeed): Finding {
  const text = `${groupDigits(used)} of ${groupDigits(limit)} used`
  const wanted = used + (isWatching ? 0 : directories)
  if (wanted <= limit * MAX_SHARE) return ok(text)
  const need = isWatching ? '' : `, and the mirrors need ${groupDigits(directories)}`
  const remedy = `sudo sysctl fs.inotify.max_user_watches=${proposedWatches(limit, directories)}`
  return warning(`${text}${need}: what is not watched is scanned instead`, remedy)
}

/** The state of the daemon, as the service manager of the system sees it. */
export type ManagerState = 'running' | 'stopped' | 'not-installed'

/** A daemon that a person started needs no service manager. */
export function assessServiceManager(state: ManagerState, file: string): Finding {
  switch (state) {
    case 'running':
      return ok(`runs the daemon (${file})`)
    case 'stopped':
      return failed(`the daemon is installed and does not run (${file})`, { remedy: 'shelfd service start' })
    case 'not-installed':
      return ok('does not start the daemon; "shelfd service install" would have it do so')
  }
}

interface Kept {
  readonly mirrors: number
  /** Those with a schedule. */
  readonly scheduled: readonly string[]
}

/** Schedules need a daemon; everything else can be sent by `shelfd sync`. */
export function assessMissingDaemon({ mirrors, scheduled }: Kept): Finding {
  if (mirrors === 0) return ok('not running; there is no mirror to keep up to date')
  const remedy = 'shelfd service install'
  if (scheduled.length === 0) return warning('not running: files are sent only by "shelfd sync"', remedy)
  const names = scheduled.map((name) => `"${name}"`).join(', ')
  return failed(`not running, so the schedule of ${names} has no effect`, { remedy })
}
