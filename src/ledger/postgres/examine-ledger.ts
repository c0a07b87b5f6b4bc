import { TLSSocket } from 'node:tls'
import type pg from 'pg'
import type { LedgerFacts } from '../../rules/ledger-findings.ts'
import type { LedgerAddress } from './address.ts'
import { connect } from './connection.ts'
import { explainFailure } from './explain-failure.ts'

interface Around {
  nowMs(): number
  /** This host, as its state has it; undefined: it was in no fleet. */
  readonly host: { readonly key: string; readonly session: bigint | null } | undefined
}

/**
 * Asks PostgreSQL for what a doctor needs to know of a ledger, over a connection of its own, as a role that may call functions only;
 * also where there is no ledger yet. Changes nothing. Throws as explainFailure says.
 */
export async function examineLedger(address: LedgerAddress, { nowMs, host }: Around): Promise<LedgerFacts> {
  const startMs = performance.now()
  const client = await connect(address)
  try {
    const answersInMs = performance.now() - startMs
    const askedMs = nowMs()
    const server = await ask<ServerRow>(client, SERVER)
    const aheadMs = (askedMs + nowMs()) / 2 - Number(server.now_ms)
    const rights = await ask<RightsRow>(client, RIGHTS)
    const { functions, lacks } = rights
    const mayCall = (name: string) => functions.includes(name) && !lacks.includes(name)
    const found = mayCall('ledger_1') ? await ask<LedgerRow>(client, 'SELECT * FROM shelfd.ledger_1()') : undefined
    const inUse =
      host && mayCall('is_in_use_1')
        ? await ask<{ is_in_use: boolean }>(client, 'SELECT shelfd.is_in_use_1($1, $2) AS is_in_use', [
            host.key,
            host.session,
          ])
        : undefined
    return {
      answersInMs,
      aheadMs,
      version: server.version,
      versionNumber: server.version_number,
      encoding: server.encoding,
      isReadOnly: server.is_read_only === 'on',
      isStandby: server.is_standby,
      isolation: server.isolation,
      fsync: server.fsync,
      fullPageWrites: server.full_page_writes,
      synchronousCommit: server.synchronous_commit,
      autovacuum: server.autovacuum,
      sizeBytes: Number(server.size_bytes),
      standbys: server.standbys,
      synchronousStandbys: server.synchronous_standbys,
      role: {
        name: server.role,
        isSuperuser: server.is_superuser,
        isOwner: rights.is_owner,
        lacks,
        writes: rights.writes,
      },
      tls: describeTls(client),
      ledger: found && { schema: found.o_schema, leaseMs: found.o_lease_ms },
      isInUse: inUse?.is_in_use === true,
      // Last, since the pooler may end the connection.
      pooler: isPooled(client, server.process) ? { takesTransactions: await takesTransactions(client) } : undefined,
    }
  } catch (error) {
    throw explainFailure(error, address)
  } finally {
    await client.end().catch(() => {})
  }
}

async function ask<R extends pg.QueryResultRow>(client: pg.Client, text: string, values?: unknown[]): Promise<R> {
  const [row] = (await client.query<R>(text, values)).rows
  if (!row) throw new Error('PostgreSQL returned no row')
  return row
}

interface ServerRow {
  readonly version: string
  readonly version_number: number
  readonly encoding: string
  readonly is_read_only: string
  readonly is_standby: boolean
  readonly isolation: string
  readonly fsync: string
  readonly full_page_writes: string
  readonly synchronous_commit: string
  readonly autovacuum: string
  readonly size_bytes: string
  readonly standbys: number
  readonly synchronous_standbys: string
  readonly role: string
  readonly is_superuser: boolean
  readonly process: number
  readonly now_ms: string
}

const SERVER = `SELECT split_part(current_setting('server_version'), ' ', 1) AS version,
  current_setting('server_version_num')::int AS version_number,
  current_setting('server_encoding') AS encoding,
  current_setting('transaction_read_only') AS is_read_only,
  pg_is_in_recovery() AS is_standby,
  current_setting('default_transaction_isolation') AS isolation,
  current_setting('fsync') AS fsync,
  current_setting('full_page_writes') AS full_page_writes,
  current_setting('synchronous_commit') AS synchronous_commit,
  current_setting('autovacuum') AS autovacuum,
  pg_database_size(current_database())::text AS size_bytes,
  (SELECT count(*)::int FROM pg_stat_replication) AS standbys,
  current_setting('synchronous_standby_names') AS synchronous_standbys,
  current_user::text AS role,
  (SELECT r.rolsuper FROM pg_roles r WHERE r.rolname = current_user) AS is_superuser,
  pg_backend_pid() AS process,
  round(extract(epoch FROM clock_timestamp()) * 1000)::text AS now_ms`

interface RightsRow {
  readonly is_owner: boolean
  readonly functions: string[]
  readonly lacks: string[]
  readonly writes: string[]
}

/** Without a ledger, the lists are empty. */
const RIGHTS = `WITH schema AS (SELECT n.oid, n.nspowner FROM pg_namespace n WHERE n.nspname = 'shelfd'),
  callable AS (
    SELECT p.proname::text AS name, has_schema_privilege(n.oid, 'USAGE') AND has_function_privilege(p.oid, 'EXECUTE') AS may
    FROM pg_proc p JOIN schema n ON n.oid = p.pronamespace WHERE p.prosecdef)
  SELECT coalesce((SELECT pg_has_role(n.nspowner, 'USAGE') FROM schema n), false) AS is_owner,
    ARRAY(SELECT name FROM callable ORDER BY name) AS functions,
    ARRAY(SELECT name FROM callable WHERE NOT may ORDER BY name) AS lacks,
    ARRAY(SELECT c.relname::text FROM pg_class c JOIN schema n ON n.oid = c.relnamespace
      WHERE c.relkind = 'r' AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE')
      ORDER BY c.relname) AS writes`

interface LedgerRow {
  readonly o_schema: number
  readonly o_lease_ms: number
}

function describeTls({ connection: { stream } }: pg.Client): LedgerFacts['tls'] {
  if (!(stream instanceof TLSSocket)) return undefined
  const validToMs = Date.parse(stream.getPeerCertificate().valid_to)
  return { protocol: stream.getProtocol() ?? 'TLS', validToMs: Number.isNaN(validToMs) ? undefined : validToMs }
}

/** A pooler answers with a number of its own where PostgreSQL answers with that of its process. */
function isPooled(client: pg.Client, process: number): boolean {
  return 'processID' in client && client.processID !== process
}

async function takesTransactions(client: pg.Client): Promise<boolean> {
  try {
    await client.query('BEGIN')
    await client.query('COMMIT')
    return true
  } catch {
    return false
  }
}
