import { DAY_MS, isoDate } from '../foundation/text/times.ts'
import { type Finding, failed, ok, warning } from './doctor-findings.ts'

export interface LedgerFacts {
  readonly answersInMs: number
  /** Such as `18.4`; and as a number, `180004`. */
  readonly version: string
  readonly versionNumber: number
  /** Undefined: the connection is not encrypted. */
  readonly tls: { readonly protocol: string; readonly validToMs: number | undefined } | undefined
  readonly fsync: string
  readonly synchronousCommit: string
  readonly role: string
  /** Functions of the ledger that the role may not call. */
  readonly lacks: readonly string[]
  /** How far this computer's clock is ahead. */
  readonly aheadMs: number
  /** Undefined if there is no ledger, or the role may not read it. */
  readonly ledger: { readonly schema: number; readonly leaseMs: number } | undefined
  /** Another process has opened a session with the key of this host. */
  readonly isInUse: boolean
}

/** What this program and this host expect. */
export interface LedgerWanted {
  /** The schema version of this program. */
  readonly schema: number
  /** Undefined if the configuration names none. */
  readonly leaseMs: number | undefined
  readonly nowMs: number
}

const MIN_VERSION = 140_000
const GRANT_REMEDY = 'have an administrator run what "shelfd fleet init --sql" prints'

export function assessLedger(facts: LedgerFacts, wanted: LedgerWanted): Finding[] {
  return [
    assessConnection(facts, wanted.nowMs),
    assessVersion(facts),
    ...assessSchema(facts, wanted),
    ...assessRole(facts),
    ...assessKey(facts),
    assessDurability(facts),
    assessLedgerClock(facts),
  ]
}

/** Renewing a certificate may take a while. */
const EXPIRES_SOON_MS = 14 * DAY_MS

function assessConnection({ tls }: LedgerFacts, nowMs: number): Finding {
  if (!tls) return ok('not encrypted, within this computer')
  if (tls.validToMs === undefined) return ok(`encrypted (${tls.protocol})`)
  const text = `encrypted (${tls.protocol}), certificate until ${isoDate(tls.validToMs)}`
  return tls.validToMs - nowMs > EXPIRES_SOON_MS ? ok(text) : warning(text, 'renew the certificate of PostgreSQL')
}

function assessVersion({ version, versionNumber }: LedgerFacts): Finding {
  const text = `PostgreSQL ${version}`
  return versionNumber < MIN_VERSION ? failed(`${text}: too old`, { remedy: 'PostgreSQL 14 or newer' }) : ok(text)
}

function assessSchema({ ledger, lacks }: LedgerFacts, wanted: LedgerWanted): Finding[] {
  const lacking = failed('the database holds no ledger', { code: 'ledger-unusable', remedy: 'shelfd fleet init' })
  // A role that may not call the function cannot tell whether there is a ledger.
  if (!ledger) return lacks.length > 0 ? [] : [lacking]
  const { schema, leaseMs } = ledger
  const lease = `lease ${inSeconds(leaseMs)}`
  const found =
    schema < wanted.schema
      ? failed(`schema ${schema}, and this program needs ${wanted.schema}`, {
          code: 'ledger-unusable',
          remedy: 'shelfd fleet upgrade',
        })
      : schema > wanted.schema
        ? warning(`schema ${schema}, and this program knows ${wanted.schema}`, 'install a newer shelfd on this host')
        : ok(`schema ${schema}, ${lease}`)
  if (wanted.leaseMs === undefined || wanted.leaseMs === leaseMs) return [found]
  const text = `${lease} holds for all hosts, and the configuration of this one says ${inSeconds(wanted.leaseMs)}`
  return [found, warning(text, `set fleet.lease to ${inSeconds(leaseMs)}, or leave it out`)]
}

function inSeconds(durationMs: number): string {
  return `${durationMs / 1_000}s`
}

function assessRole({ ledger, role, lacks }: LedgerFacts): Finding[] {
  if (lacks.length === 0) return ledger ? [ok(`role ${role} may call its functions`)] : []
  const [first = '', second = ''] = lacks
  const which = lacks.length > 2 ? `${first} and ${lacks.length - 1} more functions` : [first, second].join(' and ')
  const text = `role ${role} may not call ${lacks.length === 1 ? first : which}`
  return [failed(text, { code: 'ledger-refused', remedy: GRANT_REMEDY })]
}

function assessKey({ isInUse }: LedgerFacts): Finding[] {
  if (!isInUse) return []
  const remedy = 'stop one of them, and remove the copied state'
  const text = 'another process has the key of this host: its state was copied, or restored beside it'
  return [failed(text, { code: 'host-in-use', remedy })]
}

function assessDurability({ fsync, synchronousCommit }: LedgerFacts): Finding {
  if (fsync !== 'on') {
    const remedy = 'ALTER SYSTEM SET fsync = on; SELECT pg_reload_conf()'
    return failed('fsync is off: what it acknowledges may be lost, and no host joins', { remedy })
  }
  const own = ['on', 'remote_apply'].includes(synchronousCommit) ? '' : ', and on in calls of hosts'
  return ok(`fsync on, synchronous_commit ${synchronousCommit}${own}`)
}

const MIN_WARNED_MS = 5_000

/** Warns at most, because no clock decides who sends a content. */
function assessLedgerClock({ aheadMs }: LedgerFacts): Finding {
  const text = `clock ${aheadMs < 0 ? '-' : '+'}${(Math.abs(aheadMs) / 1_000).toFixed(1)} s beside PostgreSQL's`
  if (Math.abs(aheadMs) < MIN_WARNED_MS) return ok(text)
  return warning(`${text}: only times that people read are wrong`, 'sudo timedatectl set-ntp true')
}
