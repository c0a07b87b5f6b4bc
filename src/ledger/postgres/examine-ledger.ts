import { TLSSocket } from 'node:tls'
import type pg from 'pg'
import type { LedgerFacts } from '../../rules/ledger-findings.ts'
import type { LedgerAddress } from './address.ts'
import { connect } from './connection.ts'
import { explainFailure } from './explain-failure.ts'

/**
 * Collects facts for the doctor and changes nothing. It needs no right but to call functions, and no ledger. `host` is undefined for a
 * state that was in no fleet. Throws as explainFailure says.
 */
export async function examineLedger(
  address: LedgerAddress,
  nowMs: () => number,
  host: { readonly key: string; readonly session: bigint | null } | undefined,
): Promise<LedgerFacts> {
  const startMs = performance.now()
  const client = await connect(address)
  try {
    const answersInMs = performance.now() - startMs
    const askedMs = nowMs()
    const server = await ask<ServerRow>(client, SERVER)
    const aheadMs = (askedMs + nowMs()) / 2 - Number(server.now_ms)
    const { functions, lacks } = await ask<{ readonly functions: string[]; readonly lacks: string[] }>(client, RIGHTS)
    const mayCall = (name: string) => functions.includes(name) && !lacks.includes(name)
    const found = mayCall('ledger_1')
      ? await ask<{ o_schema: number; o_lease_ms: number }>(client, 'SELECT * FROM shelfd.ledger_1()')
      : undefined
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
      fsync: server.fsync,
      synchronousCommit: server.synchronous_commit,
      role: server.role,
      lacks,
      tls: describeTls(client),
      ledger: found && { schema: found.o_schema, leaseMs: found.o_lease_ms },
      isInUse: inUse?.is_in_use === true,
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
  readonly fsync: string
  readonly synchronous_commit: string
  readonly role: string
  readonly now_ms: string
}

const SERVER = `SELECT split_part(current_setting('server_version'), ' ', 1) AS version,
  current_setting('server_version_num')::int AS version_number,
  current_setting('fsync') AS fsync,
  current_setting('synchronous_commit') AS synchronous_commit,
  current_user::text AS role,
  round(extract(epoch FROM clock_timestamp()) * 1000)::text AS now_ms`

/** Lists all functions of the ledger, and those that the role may not call. Without a ledger both lists are empty. */
const RIGHTS = `WITH callable AS (
    SELECT p.proname::text AS name, has_schema_privilege(n.oid, 'USAGE') AND has_function_privilege(p.oid, 'EXECUTE') AS may
    FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = 'shelfd' AND p.prosecdef)
  SELECT ARRAY(SELECT name FROM callable ORDER BY name) AS functions,
    ARRAY(SELECT name FROM callable WHERE NOT may ORDER BY name) AS lacks`

function describeTls({ connection: { stream } }: pg.Client): LedgerFacts['tls'] {
  if (!(stream instanceof TLSSocket)) return undefined
  const validToMs = Date.parse(stream.getPeerCertificate().valid_to)
  return { protocol: stream.getProtocol() ?? 'TLS', validToMs: Number.isNaN(validToMs) ? undefined : validToMs }
}
