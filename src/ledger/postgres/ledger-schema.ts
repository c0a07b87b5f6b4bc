import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { OperatorError } from '../../foundation/errors.ts'
import type { LedgerAddress } from './address.ts'
import { connect } from './connection.ts'
import { explainFailure, missingLedger } from './explain-failure.ts'
import { SCHEMA_VERSION } from './schema-version.ts'

const MIGRATIONS = join(import.meta.dirname, 'migrations')

/** The number of an advisory lock, by which one host at a time creates or upgrades a ledger. No other program is likely to use it. */
const LOCK = 0x73686c64

/** The functions that readers may call. Hosts may call every function that runs with the rights of its owner. */
const READERS = [
  ...['ledger_1', 'hosts_1', 'totals_1', 'second_sends_1', 'mirrors_1', 'problems_1', 'runs_1', 'content_1', 'peek_1'],
]

export interface LedgerSchema {
  /** The version before; 0: there was no ledger. */
  readonly from: number
  readonly to: number
}

/**
 * Creates or upgrades the ledger in one transaction, as a role that owns it. `leaseMs` is the lease of a new ledger. Throws as
 * explainFailure says, and OperatorError for an unusable database.
 */
export async function initialise(address: LedgerAddress, leaseMs: number): Promise<LedgerSchema> {
  return await migrate(address, leaseMs, readMigrations())
}

export async function upgrade(address: LedgerAddress, migrations = readMigrations()): Promise<LedgerSchema> {
  return await migrate(address, undefined, migrations)
}

async function migrate(
  address: LedgerAddress,
  leaseMs: number | undefined,
  migrations: readonly Migration[],
): Promise<LedgerSchema> {
  const newest = migrations.at(-1)?.version ?? SCHEMA_VERSION
  const client = await connect(address)
  try {
    await client.query('BEGIN')
    await client.query('SELECT pg_advisory_xact_lock($1)', [LOCK])
    await checkDatabase(client, address)
    const from = await readSchema(client)
    if (from === 0 && leaseMs === undefined) throw missingLedger(address)
    for (const { sql } of migrations.filter(({ version }) => version > from)) await client.query(sql)
    // An existing ledger keeps its lease.
    if (from < newest) await client.query(`${recordSchema(newest, leaseMs ?? 0)}; ${GRANTS}`)
    await client.query('COMMIT')
    return { from, to: Math.max(from, newest) }
  } catch (error) {
    throw explainFailure(error, address)
  } finally {
    await client.end()
  }
}

/**
 * Returns the SQL for a superuser. The role shelfd_owner owns the schema, shelfd_host may call the functions of hosts, shelfd_reader
 * those that only read; neither may use a table. The SQL may run twice, and in several databases of one server at once.
 */
export function hardenedSql(leaseMs: number): string {
  const role = (name: string) =>
    `BEGIN CREATE ROLE ${name} NOLOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN END;`
  return [
    '-- Run it as a superuser in the database of the ledger. Then create a role with a password for each host:',
    "--   CREATE ROLE nas LOGIN PASSWORD '…' IN ROLE shelfd_host;",
    'BEGIN;',
    `DO $roles$ BEGIN ${['shelfd_owner', 'shelfd_host', 'shelfd_reader'].map(role).join(' ')} END $roles$;`,
    "DO $create$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO shelfd_owner', current_database()); END $create$;",
    'SET LOCAL ROLE shelfd_owner;',
    ...readMigrations().map(({ version, sql }) => onlyOnce(version, sql)),
    `DO $once$ BEGIN IF NOT EXISTS (SELECT FROM shelfd.ledger WHERE schema >= ${SCHEMA_VERSION}) THEN ${recordSchema(SCHEMA_VERSION, leaseMs)}; END IF; END $once$;`,
    'GRANT USAGE ON SCHEMA shelfd TO shelfd_host, shelfd_reader;',
    GRANTS,
    'COMMIT;',
    '',
  ].join('\n')
}

/** Grants calls to the roles of hosts and readers, where these exist. */
const GRANTS = [
  'DO $grant$ DECLARE f regprocedure; r text; BEGIN',
  "  FOR f, r IN SELECT p.oid, g.rolname FROM pg_proc p JOIN pg_roles g ON g.rolname IN ('shelfd_host', 'shelfd_reader')",
  "    WHERE p.pronamespace = 'shelfd'::regnamespace AND has_schema_privilege(g.oid, p.pronamespace, 'USAGE') AND (",
  `      g.rolname = 'shelfd_host' AND p.prosecdef OR p.proname IN (${READERS.map((name) => `'${name}'`).join(', ')})) LOOP`,
  "    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', f, r);",
  '  END LOOP;',
  'END $grant$;',
].join('\n')

/** Runs a migration unless the ledger has it. */
function onlyOnce(version: number, sql: string): string {
  const lacks =
    version === 1
      ? "to_regclass('shelfd.ledger') IS NULL"
      : `NOT EXISTS (SELECT FROM shelfd.ledger WHERE schema >= ${version})`
  return `DO $migration$ BEGIN IF ${lacks} THEN EXECUTE $sql$\n${sql}\n$sql$; END IF; END $migration$;`
}

function recordSchema(schema: number, leaseMs: number): string {
  const record = `INSERT INTO shelfd.ledger (schema, lease_ms) VALUES (${schema}, ${leaseMs}) ON CONFLICT (is_only) DO UPDATE SET schema = ${schema}`
  return `${record}; UPDATE shelfd.ledger SET created_on = shelfd.place_1() WHERE created_on IS NULL`
}

async function checkDatabase(client: pg.Client, { database }: LedgerAddress): Promise<void> {
  const text =
    "SELECT current_setting('server_version_num')::int AS version, current_setting('server_encoding') AS encoding"
  const [row] = (await client.query<{ version: number; encoding: string }>(text)).rows
  const { version = 0, encoding = '' } = row ?? {}
  if (version < 140_000) {
    throw new OperatorError('ledger-unusable', `A ledger needs PostgreSQL 14 or newer, and this is ${version / 10_000}`)
  }
  if (encoding !== 'UTF8') {
    throw new OperatorError(
      'ledger-unusable',
      `Database "${database}" has the encoding ${encoding}, and a ledger needs UTF8`,
    )
  }
}

async function readSchema(client: pg.Client): Promise<number> {
  const [found] = (
    await client.query<{ is_there: boolean }>("SELECT to_regclass('shelfd.ledger') IS NOT NULL AS is_there")
  ).rows
  if (!found?.is_there) return 0
  return (await client.query<{ schema: number }>('SELECT schema FROM shelfd.ledger')).rows[0]?.schema ?? 0
}

interface Migration {
  readonly version: number
  readonly sql: string
}

export function readMigrations(): Migration[] {
  return readdirSync(MIGRATIONS)
    .filter((name) => /^\d{3}-.+\.sql$/.test(name))
    .sort()
    .map((name) => ({ version: Number(name.slice(0, 3)), sql: readFileSync(join(MIGRATIONS, name), 'utf8') }))
}
