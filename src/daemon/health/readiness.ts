import type { ErrorCode } from '../../foundation/errors.ts'
import { counted } from '../../foundation/text/safe-text.ts'
import type { DaemonMirrorStatus, DaemonStatus } from '../../sync/continuous/controller-status.ts'

/** A reason why the daemon is not ready. Every user of the machine can read it, so it holds no path and no text from outside. */
export interface FailingCheck {
  /** `credential`, `service`, `store`, `starting`, or `mirror:NAME`. */
  readonly check: string
  /** An error code; null where nothing is wrong, as while the daemon starts. */
  readonly code: string | null
  readonly message: string
}

const REFUSED_CREDENTIAL = 'The service refuses the credential'
const REFUSALS: Partial<Record<ErrorCode, string>> = {
  'credential-missing': 'There is no credential for the service',
  'certificate-refused': 'The certificate of the service is not trusted',
  'client-certificate-refused': 'The service refuses the client certificate, or there is none',
  'proxy-refused': 'The proxy refuses connections to the service',
  'redirect-refused': 'The service redirects to another address',
}

/** Lists what keeps the daemon from mirroring now; empty when it is ready. */
export function listFailingChecks(status: DaemonStatus): FailingCheck[] {
  const { mirrors, isStoreFull } = status
  const checks = [...checksOfService(status), ...mirrors.filter(isFailing).map(checkOfMirror)]
  if (isStoreFull) checks.push({ check: 'store', code: 'disk-full', message: 'The disk of the state is full' })
  const unseen = mirrors.filter(awaitsFirstScan).length
  if (unseen > 0) {
    const message = `${unseen} of ${counted(mirrors.length, 'mirror')} had no first scan yet`
    checks.push({ check: 'starting', code: null, message })
  }
  return checks
}

function checksOfService({ service: { state, reason } }: DaemonStatus): FailingCheck[] {
  if (state === 'refused') {
    const code = reason?.code ?? 'credential-refused'
    return [{ check: 'credential', code, message: `${REFUSALS[code] ?? REFUSED_CREDENTIAL}; an operator must act` }]
  }
  if (state !== 'away') return []
  const code = reason?.code ?? 'service-unreachable'
  return [{ check: 'service', code, message: 'The service does not answer; shelfd continues when it answers again' }]
}

/** Returns whether a mirror is stopped until somebody acts. */
export function isFailing({ state, reason }: DaemonMirrorStatus): boolean {
  return state === 'halted' || isWithoutRoot(reason)
}

function checkOfMirror({ name, reason }: DaemonMirrorStatus): FailingCheck {
  const message = isWithoutRoot(reason)
    ? 'Its directory cannot be read; shelfd continues when it can be read again'
    : 'It is halted; an operator must act (see shelfd status)'
  return { check: `mirror:${name}`, code: reason?.code ?? null, message }
}

/** Returns whether the directory itself is the reason: then the user must repair it, not shelfd. */
function isWithoutRoot(reason: DaemonMirrorStatus['reason']): boolean {
  return reason?.code === 'root-missing' || reason?.code === 'root-unreadable'
}

/** False for mirrors that are held back on purpose, which may never be scanned, and for failing ones, which are listed. */
function awaitsFirstScan(mirror: DaemonMirrorStatus): boolean {
  return mirror.lastScanAt === null && mirror.state !== 'held' && !isFailing(mirror)
}
