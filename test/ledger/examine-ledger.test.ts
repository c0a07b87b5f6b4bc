import { describe, expect, onTestFinished, test } from 'vitest'
import type { LedgerAddress } from '../../src/ledger/postgres/address.ts'
import { examineLedger } from '../../src/ledger/postgres/examine-ledger.ts'
import { hardenedSql, initialise, readMigrations, upgrade } from '../../src/ledger/postgres/ledger-schema.ts'
import { openFleetView } from '../../src/ledger/postgres/postgres-fleet-view.ts'
import { postgresLedger } from '../../src/ledger/postgres/postgres-ledger.ts'
import { SCHEMA_VERSION } from '../../src/ledger/postgres/schema-version.ts'
import { createDatabase, needsPostgres, type TestDatabase } from '../support/postgres.ts'
import { newLibrary, wanted } from './test-host.ts'

needsPostgres()

const LEASE_MS = 60_000

async function newDatabase(...options: Parameters<typeof createDatabase>): Promise<TestDatabase> {
  const database = await createDatabase(...options)
  onTestFinished(() => database[Symbol.asyncDispose]())
  return database
}

async function newLedger(...options: Parameters<typeof createDatabase>): Promise<TestDatabase> {
  const database = await newDatabase(...options)
  await initialise(database.address, LEASE_MS)
  return database
}

/** Those of a program of the next version. */
const MIGRATIONS = [
  ...readMigrations(),
  {
    version: SCHEMA_VERSION + 1,
    sql: `SET LOCAL search_path = shelfd;
      ALTER TABLE shelfd.content ADD COLUMN note text;
      CREATE FUNCTION shelfd.note_1() RETURNS text LANGUAGE sql SECURITY DEFINER SET search_path = shelfd, pg_temp AS 'SELECT null::text';
      REVOKE ALL ON FUNCTION shelfd.note_1() FROM public`,
  },
]

/** A role of its own, in these roles. */
async function newRole(database: TestDatabase, roles: string): Promise<LedgerAddress> {
  const user = `host_${database.address.database}`
  await database.run(`CREATE ROLE ${user} LOGIN PASSWORD 'secret' ${roles}`)
  onTestFinished(async () => void (await database.run(`DROP OWNED BY ${user}; DROP ROLE ${user}`)))
  return { ...database.address, user, password: async () => 'secret' }
}

const examine = (address: LedgerAddress, host?: { key: string; session: bigint | null }) =>
  examineLedger(address, Date.now, host)

async function openSession(address: LedgerAddress, key: string, previous: bigint | null = null) {
  const ledger = postgresLedger(address)
  onTestFinished(() => ledger[Symbol.asyncDispose]())
  return { ledger, ...(await ledger.open({ key, name: key, version: '1' }, previous)) }
}

describe('what PostgreSQL says of a ledger', () => {
  test('the server, the database and the role are read without a right on a table', async () => {
    const database = await newDatabase()
    await database.run(hardenedSql(LEASE_MS))
    const facts = await examine(await newRole(database, 'IN ROLE shelfd_host'))
    expect(facts).toMatchObject({
      ...{ version: '18.4', versionNumber: 180_004, tls: undefined, fsync: 'on', synchronousCommit: 'on', lacks: [] },
      ledger: { schema: SCHEMA_VERSION, leaseMs: LEASE_MS },
      isInUse: false,
    })
    expect(Math.abs(facts.aheadMs)).toBeLessThan(2_000)
  })

  test('a clock that is ahead is seen to be', async () => {
    const database = await newLedger()
    const facts = await examineLedger(database.address, () => Date.now() + 90_000, undefined)
    expect(Math.round(facts.aheadMs / 10_000)).toBe(9)
  })

  test('a role that may do nothing lacks all functions, and sees no ledger', async () => {
    const database = await newLedger()
    const address = await newRole(database, '')
    const facts = await examine(address)
    expect(facts).toMatchObject({ role: address.user, ledger: undefined })
    expect(facts.lacks).toContain('claim_1')
  })

  test('a database that holds no ledger is examined as well', async () => {
    const database = await newDatabase()
    expect(await examine(database.address)).toMatchObject({ ledger: undefined, lacks: [] })
  })

  test('settings of the database count', async () => {
    const database = await newLedger()
    await database.run(`ALTER DATABASE ${database.address.database} SET synchronous_commit = off`)
    expect(await examine(database.address)).toMatchObject({ synchronousCommit: 'off' })
  })

  test('a key that another process has opened a session with is in use', async () => {
    const database = await newLedger()
    const first = await openSession(database.address, 'k')
    await first.ledger.renew(first.session)
    const isInUse = async (session: bigint | null) => (await examine(database.address, { key: 'k', session })).isInUse
    expect(await isInUse(first.session)).toBe(false)
    // A copy of the state, from before or after.
    expect(await isInUse(null)).toBe(true)
    const next = await openSession(database.address, 'k', first.session)
    // Nobody has used it yet: the answer may have been lost.
    expect(await isInUse(first.session)).toBe(false)
    await next.ledger.renew(next.session)
    expect(await isInUse(first.session)).toBe(true)
    expect((await examine(database.address, { key: 'unknown', session: 1n })).isInUse).toBe(false)
  })
})

describe('a ledger that is upgraded', () => {
  test('goes on to serve the sessions of the program before', async () => {
    const database = await newLedger()
    const { ledger, session } = await openSession(database.address, 'k')
    const library = newLibrary()
    const send = async (text: string, batch: bigint) => {
      expect(await ledger.claim(session, library, [wanted(text)], { newPerDay: 9 })).toEqual([{ kind: 'mine' }])
      const end = { ...wanted(text), session, library, kind: 'created' as const, resourceId: text }
      expect(await ledger.settle(session, batch, [end])).toEqual([])
    }
    await send('a', 1n)
    expect(await upgrade(database.address, MIGRATIONS)).toEqual({ from: SCHEMA_VERSION, to: SCHEMA_VERSION + 1 })
    expect(await upgrade(database.address, MIGRATIONS)).toEqual({ from: SCHEMA_VERSION + 1, to: SCHEMA_VERSION + 1 })
    await send('b', 2n)
    expect(await ledger.renew(session)).toMatchObject({ isOpen: true })
  })

  test('with roles of their own, hosts may call what an upgrade adds', async () => {
    const database = await newDatabase()
    await database.run(hardenedSql(LEASE_MS))
    const address = await newRole(database, 'IN ROLE shelfd_host')
    await upgrade(database.address, MIGRATIONS)
    expect((await examine(address)).lacks).toEqual([])
    await using view = openFleetView(address)
    expect(await view.listHosts()).toEqual([])
  })
})

describe('a host that is silent', () => {
  test('did not end its session, also when another one has closed that', async () => {
    const database = await newLedger()
    const [ended, killed, taken, alive] = await Promise.all(
      ['ended', 'killed', 'taken', 'alive'].map((key) => openSession(database.address, key)),
    )
    if (!ended || !killed || !taken || !alive) throw new Error('no sessions')
    await ended.ledger.close(ended.session)
    await database.run(`UPDATE shelfd.session SET seen_at = seen_at - interval '${2 * LEASE_MS} milliseconds'`)
    await alive.ledger.renew(alive.session)
    const [row] = await database.run('SELECT public_id FROM shelfd.session WHERE id = $1', [taken.session])
    expect(await alive.ledger.closeSilent({ session: BigInt(String(row?.public_id)), beat: 0n })).toBe(true)
    await using view = openFleetView(database.address)
    const states = (await view.listHosts()).map(({ name, isOpen, isSilent }) => [name, isOpen, isSilent])
    expect(states).toEqual([
      ['alive', true, false],
      ['ended', false, false],
      ['killed', true, true],
      ['taken', false, true],
    ])
    // It is back.
    await openSession(database.address, 'taken', taken.session)
    expect((await view.listHosts()).filter(({ isSilent }) => isSilent).map(({ name }) => name)).toEqual(['killed'])
  })
})
