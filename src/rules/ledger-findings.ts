import { counted } from '../foundation/text/safe-text.ts'
import { DAY_MS, isoDate } from '../foundation/text/times.ts'
import { formatSize } from '../foundation/text/units.ts'
import { type Finding, failed, ok, warning } from './doctor-findings.ts'

/** What PostgreSQL says of the server, the database, the role and the connection of a ledger. */
export interface LedgerFacts {
  readonly answersInMs: number
  /** Such as `18.4`; and as a number, `180004`. */
  readonly version: string
  readonly versionNumber: number
  readonly encoding: string
  /** Undefined: the connection is not encrypted. */
  readonly tls: { readonly protocol: string; readonly validToMs: number | undefined } | undefined
  /** Undefined: nobody stands between. */
  readonly pooler: { readonly takesTransactions: boolean } | undefined
  readonly isReadOnly: boolean
  readonly isStandby: boolean
  readonly isolation: string
  readonly fsync: string
  readonly fullPageWrites: string
  readonly synchronousCommit: string
  readonly autovacuum: string
  /** Of the database. PostgreSQL does not say how much is free on its disk. */
  readonly sizeBytes: number
  /** Servers that receive the log, and which of them a commit waits for; empty: none. */
  readonly standbys: number
  readonly synchronousStandbys: string
  readonly role: LedgerRole
  /** By how much the clock of this computer is ahead. */
  readonly aheadMs: number
  /** Undefined: there is none, or the role may not see it. */
  readonly ledger: { readonly schema: number; readonly leaseMs: number } | undefined
  /** Another process has opened a session with the key of this host. */
  readonly isInUse: boolean
}

interface LedgerRole {
  readonly name: string
  readonly isSuperuser: boolean
  /** It owns the schema. */
  readonly isOwner: boolean
  /** Functions of hosts that it may not call. */
  readonly lacks: readonly string[]
  /** Tables of the ledger that it may write, though it neither owns them nor is a superuser. */
  readonly writes: readonly string[]
}

/** What this program and this host take for right. */
export interface LedgerWanted {
  /** The schema of the program. */
  readonly schema: number
  /** Of the configuration; undefined: it names none. */
  readonly leaseMs: number | undefined
  readonly nowMs: number
}

const OLDEST_VERSION = 140_000
const HARDENED = 'have an administrator run what "shelfd fleet init --sql" prints'

/** Assesses a ledger that answers, one line a subject. */
export function assessLedger(facts: LedgerFacts, wanted: LedgerWanted): Finding[] {
  return [
    assessConnection(facts, wanted.nowMs),
    ...assessPooler(facts),
    ...assessServer(facts),
    ...assessSchema(facts, wanted),
    ...assessRole(facts),
    ...assessKey(facts),
    ...assessDurability(facts),
    ...assessStandbys(facts),
    assessVacuum(facts),
    assessLedgerClock(facts),
  ]
}

/** A certificate that ends sooner is worth a word: renewing one may take a while. */
const EXPIRES_SOON_MS = 14 * DAY_MS

function assessConnection({ tls }: LedgerFacts, nowMs: number): Finding {
  if (!tls) return ok('not encrypted, within this computer')
  if (tls.validToMs === undefined) return ok(`encrypted (${tls.protocol})`)
  const text = `encrypted (${tls.protocol}), certificate until ${isoDate(tls.validToMs)}`
  return tls.validToMs - nowMs > EXPIRES_SOON_MS ? ok(text) : warning(text, 'renew the certificate of PostgreSQL')
}

function assessPooler({ pooler }: LedgerFacts): Finding[] {
  if (!pooler) return []
  if (pooler.takesTransactions) return [ok('through a pooler, which takes transactions')]
  const remedy = 'set its pool_mode to transaction'
  return [failed('the pooler hands out single statements: the ledger can be neither created nor upgraded', { remedy })]
}

function assessServer({ version, versionNumber, encoding, isStandby, isReadOnly, isolation }: LedgerFacts): Finding[] {
  const text = `PostgreSQL ${version}, ${encoding}`
  const problems = [
    ...(versionNumber < OLDEST_VERSION ? [failed(`${text}: too old`, { remedy: 'PostgreSQL 14 or newer' })] : []),
    ...(encoding === 'UTF8'
      ? []
      : [failed(`${text}: a ledger needs UTF8`, { remedy: "CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0" })]),
    ...assessWrites({ isStandby, isReadOnly }),
    ...(isolation === 'read committed'
      ? []
      : [
          failed(`transactions are ${isolation} by default, and the ledger needs read committed`, {
            remedy: 'ALTER ROLE … RESET default_transaction_isolation, and the same for the database',
          }),
        ]),
  ]
  return problems.length > 0 ? problems : [ok(text)]
}

function assessWrites({ isStandby, isReadOnly }: Pick<LedgerFacts, 'isStandby' | 'isReadOnly'>): Finding[] {
  if (isStandby) {
    const remedy = 'name the primary in fleet.database'
    return [failed('this is a standby, which takes no writes: nothing new is sent', { remedy })]
  }
  if (!isReadOnly) return []
  const remedy = 'ALTER ROLE … RESET default_transaction_read_only, and the same for the database'
  return [failed('transactions are read only by default: nothing new is sent', { remedy })]
}

function assessSchema({ ledger, role }: LedgerFacts, wanted: LedgerWanted): Finding[] {
  const lacking = failed('the database holds no ledger', { code: 'ledger-unusable', remedy: 'shelfd fleet init' })
  // A role that may not ask does not know.
  if (!ledger) return role.lacks.length > 0 ? [] : [lacking]
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

/** As the configuration has it. */
function inSeconds(durationMs: number): string {
  return `${durationMs / 1_000}s`
}

function assessRole({ ledger, role }: LedgerFacts): Finding[] {
  const { name, isSuperuser, isOwner, lacks, writes } = role
  if (!ledger && lacks.length === 0) return []
  if (lacks.length > 0) {
    const [first = '', second = ''] = lacks
    const which = lacks.length > 2 ? `${first} and ${lacks.length - 1} more functions` : [first, second].join(' and ')
    const text = `role ${name} may not call ${lacks.length === 1 ? first : which}`
    return [failed(text, { code: 'ledger-refused', remedy: HARDENED })]
  }
  if (isSuperuser) return [warning(`role ${name} is a superuser`, 'sign in as a role that only owns this database')]
  if (isOwner) return [ok(`role ${name} owns the ledger`)]
  if (writes.length === 0) return [ok(`role ${name} may call its functions, and change no table`)]
  return [
    warning(`role ${name} may change ${writes.join(', ')}`, `REVOKE ALL ON ALL TABLES IN SCHEMA shelfd FROM ${name}`),
  ]
}

function assessKey({ isInUse }: LedgerFacts): Finding[] {
  if (!isInUse) return []
  const remedy = 'stop one of them, and remove the copied state'
  const text = 'another process has the key of this host: its state was copied, or restored beside it'
  return [failed(text, { code: 'host-in-use', remedy })]
}

function assessDurability({ fsync, fullPageWrites, synchronousCommit }: LedgerFacts): Finding[] {
  const found = [
    ...(fsync === 'on'
      ? []
      : [failed('fsync is off: what it acknowledges may be lost, and no host joins', { remedy: setting('fsync') })]),
    ...(fullPageWrites === 'on'
      ? []
      : [
          warning(
            'full_page_writes is off: a crash may damage the ledger, unless its file system writes pages whole',
            setting('full_page_writes'),
          ),
        ]),
  ]
  if (found.length > 0) return found
  const own = ['on', 'remote_apply'].includes(synchronousCommit) ? '' : ', and on in calls of hosts'
  return [ok(`fsync on, full_page_writes on, synchronous_commit ${synchronousCommit}${own}`)]
}

function setting(name: string): string {
  return `ALTER SYSTEM SET ${name} = on; SELECT pg_reload_conf()`
}

/** A failover to a standby that lacks the last commits is noticed, and costs a wait and a look. */
function assessStandbys({ standbys, synchronousStandbys }: LedgerFacts): Finding[] {
  const isWaitedFor = synchronousStandbys !== ''
  if (standbys === 0 && isWaitedFor) {
    const text = `commits wait for a standby (${synchronousStandbys}), and none is connected: no call of a host ends`
    return [failed(text, { remedy: 'start one, or RESET synchronous_standby_names' })]
  }
  if (standbys === 0) return []
  const text = counted(standbys, 'standby', 'standbys')
  if (isWaitedFor) return [ok(`${text}, commits wait for ${synchronousStandbys}`)]
  const remedy = 'ALTER SYSTEM SET synchronous_standby_names, to lose none'
  return [warning(`${text}, and no commit waits for one: a failover may lose the last ones`, remedy)]
}

function assessVacuum({ autovacuum, sizeBytes }: LedgerFacts): Finding {
  if (autovacuum === 'on') return ok(`autovacuum on, the database has ${formatSize(sizeBytes)}`)
  return failed('autovacuum is off: the ledger grows and gets slow', { remedy: setting('autovacuum') })
}

const UNNOTICED_MS = 5_000

/** No clock decides who sends. */
function assessLedgerClock({ aheadMs }: LedgerFacts): Finding {
  const text = `clock ${aheadMs < 0 ? '-' : '+'}${(Math.abs(aheadMs) / 1_000).toFixed(1)} s beside PostgreSQL's`
  if (Math.abs(aheadMs) < UNNOTICED_MS) return ok(text)
  return warning(`${text}: only times that people read are wrong`, 'sudo timedatectl set-ntp true')
}
