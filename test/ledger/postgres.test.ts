import { createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { AccessError, InterruptedError, OperatorError, TemporaryError } from '../../src/foundation/errors.ts'
import type { LedgerAddress } from '../../src/ledger/postgres/address.ts'
import { LedgerConnection } from '../../src/ledger/postgres/connection.ts'
import { hardenedSql, initialise } from '../../src/ledger/postgres/ledger-schema.ts'
import { openFleetView } from '../../src/ledger/postgres/postgres-fleet-view.ts'
import { postgresLedger } from '../../src/ledger/postgres/postgres-ledger.ts'
import { SCHEMA_VERSION } from '../../src/ledger/postgres/schema-version.ts'
import { freePort } from '../support/free-port.ts'
import { needs } from '../support/needs.ts'
import { createDatabase, needsPostgres, startPooler, type TestDatabase } from '../support/postgres.ts'
import { startLossyProxy } from './lossy-proxy.ts'
import { describeLedger } from './suite.ts'
import { expectLedgerError, kindsOf, type LedgerUnderTest, newLibrary, openTwo, TestHost, wanted } from './test-host.ts'

const LEASE_MS = 60_000

const isThere = needsPostgres()
const opened: AsyncDisposable[] = []
let database: TestDatabase
let target: LedgerUnderTest

beforeAll(async () => {
  if (!isThere) return
  database = await newLedger()
  target = await testLedger(database)
})

afterAll(async () => {
  for (const one of opened.toReversed()) await one[Symbol.asyncDispose]()
})

describe('the ledger on PostgreSQL', () => describeLedger(() => target))

describe('the ledger on PostgreSQL of the system, through a pooler', () => {
  const hasPrograms = needs('postgres', 'pgbouncer')
  let pooled: LedgerUnderTest
  beforeAll(async () => {
    if (!hasPrograms) return
    const own = track(await createDatabase('system'))
    await initialise(own.address, LEASE_MS)
    const pooler = track(await startPooler(own.address))
    pooled = await testLedger(own, pooler.port)
  })
  describeLedger(() => pooled)
})

describe('a ledger on PostgreSQL', () => {
  test('creating it twice changes nothing', async () => {
    const own = track(await createDatabase())
    expect(await initialise(own.address, LEASE_MS)).toEqual({ from: 0, to: SCHEMA_VERSION })
    const before = await own.run('SELECT * FROM shelfd.ledger')
    expect(await initialise(own.address, 15_000)).toEqual({ from: SCHEMA_VERSION, to: SCHEMA_VERSION })
    expect(await own.run('SELECT * FROM shelfd.ledger')).toEqual(before)
  })

  test('two hosts that create it at the same time make one', async () => {
    const own = track(await createDatabase())
    const made = await Promise.all([initialise(own.address, LEASE_MS), initialise(own.address, LEASE_MS)])
    expect(made.map(({ from }) => from).sort()).toEqual([0, SCHEMA_VERSION])
  })

  test('a database without one is named, with what creates it', async () => {
    const own = track(await createDatabase())
    await expectFailure(
      own.address,
      OperatorError,
      'ledger-unusable',
      /holds no ledger: create it by "shelfd fleet init"/,
    )
  })

  test.each([
    [0, 'ledger-unusable', new RegExp(`has schema 0, and this program needs ${SCHEMA_VERSION}`)],
    [
      SCHEMA_VERSION + 2,
      'ledger-newer',
      new RegExp(`has schema ${SCHEMA_VERSION + 2}, and this program knows up to ${SCHEMA_VERSION + 1}`),
    ],
  ] as const)('one of schema %d is refused before anything is written', async (schema, code, message) => {
    const own = await newLedger()
    await own.run('UPDATE shelfd.ledger SET schema = $1', [schema])
    await expectFailure(own.address, OperatorError, code, new RegExp(message))
    expect(await own.run('SELECT * FROM shelfd.host')).toEqual([])
  })

  test('one of the next schema serves this program', async () => {
    const own = await newLedger()
    await own.run('UPDATE shelfd.ledger SET schema = schema + 1')
    expect(await open(own.address)).toMatchObject({ settled: 0n, hasMoved: false })
  })

  test('a wrong password and an unknown database are refused, and no password is shown', async () => {
    const { address } = database
    await expectFailure(
      { ...address, password: async () => 'canary' },
      AccessError,
      'ledger-refused',
      /^(?!.*canary).*refuses role "postgres"/,
    )
    await expectFailure({ ...address, database: 'nowhere' }, AccessError, 'ledger-refused', /"nowhere"/)
  })

  test('a server that does not encrypt is refused where encryption is asked for', async () => {
    await expectFailure({ ...database.address, tls: {} }, AccessError, 'ledger-refused', /No safe connection/)
  })

  test('one that cannot be reached is away', async () => {
    const address = { ...database.address, port: await freePort() }
    await expectFailure(address, TemporaryError, 'ledger-away', /is away: .*ECONNREFUSED/)
  })

  test('a host connects again after the server ended its connections', async () => {
    const nas = await TestHost.open(target)
    await nas.ledger.renew(nas.session)
    await database.run(
      'SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    )
    // The end of a connection may be noticed by the call.
    await nas.claim('a').catch((error: unknown) => expect(error).toMatchObject({ code: 'ledger-away' }))
    expect(await kindsOf(nas.claim('a'))).toEqual(['mine'])
  })

  test('a call that waits for a lock too long is away, and no beat waits for it', async () => {
    const own = await newLedger()
    const slow = track(postgresLedger({ ...own.address, callTimeoutMs: 500 }))
    const session = await slow.open({ key: 'k', name: 'nas', version: '1' }, null)
    const other = track(new LedgerConnection(own.address))
    const locked = other.query("SELECT pg_sleep(2) FROM (SELECT FROM shelfd.host WHERE key = 'k' FOR UPDATE) h")
    await expect
      .poll(() => own.run("SELECT FROM pg_stat_activity WHERE query LIKE '%pg_sleep(2)%' AND wait_event = 'PgSleep'"))
      .toHaveLength(1)
    const settle = expect(slow.settle(session.session, 1n, [])).rejects.toMatchObject({ code: 'ledger-away' })
    expect(await slow.renew(session.session)).toMatchObject({ isOpen: true })
    await settle
    await locked
    expect(await slow.settle(session.session, 1n, [])).toEqual([])
  })

  test('a call that hangs ends soon once the program is to end, and so does closing the connection', async () => {
    const own = await newLedger()
    const hung = createServer((socket) => void sockets.add(socket))
    const sockets = new Set<Socket>()
    await new Promise<void>((resolve) => hung.listen(0, '127.0.0.1', resolve))
    const place = hung.address()
    const port = typeof place === 'object' && place ? place.port : 0
    const stop = new AbortController()
    const reason = new InterruptedError()
    const address = { ...own.address, signal: stop.signal }
    await using locked = postgresLedger(address)
    const { session } = await locked.open({ key: 'k', name: 'nas', version: '1' }, null)
    await using other = new LedgerConnection(own.address)
    const lock = other.query("SELECT pg_sleep(20) FROM (SELECT FROM shelfd.host WHERE key = 'k' FOR UPDATE) h")
    const cut = expect(lock).rejects.toMatchObject({ code: 'ledger-away' })
    await expect
      .poll(() => own.run("SELECT FROM pg_stat_activity WHERE query LIKE '%pg_sleep(20)%' AND wait_event = 'PgSleep'"))
      .toHaveLength(1)
    const deaf = postgresLedger({ ...address, port })
    const calls = [locked.settle(session, 1n, []), deaf.open({ key: 'l', name: 'nas', version: '1' }, null)]
    const ends = Promise.allSettled(calls)
    const startMs = performance.now()
    stop.abort(reason)
    expect(await ends).toEqual(calls.map(() => ({ status: 'rejected', reason })))
    await deaf[Symbol.asyncDispose]()
    expect(performance.now() - startMs).toBeLessThan(4_500)
    for (const socket of sockets) socket.destroy()
    hung.close()
    await own.run("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE wait_event = 'PgSleep'")
    await cut
  })

  test('what is acknowledged is durable, whatever the default of the database', async () => {
    const own = await newLedger()
    await own.run(`ALTER DATABASE ${own.address.database} SET synchronous_commit = off`)
    await own.run(`ALTER ROLE postgres IN DATABASE ${own.address.database} SET synchronous_commit = off`)
    const { session } = await open(own.address)
    // The setting holds until the end of the transaction, which is what counts.
    const block =
      "DO $$ BEGIN PERFORM shelfd.renew_1(%d, 0, null, null, false); RAISE EXCEPTION '%%', current_setting('synchronous_commit'); END $$"
    await expect(own.run(block.replace('%d', String(session)).replace('%%', '%'))).rejects.toThrow(/^on$/)
  })

  test('a database with another isolation is refused', async () => {
    const own = await newLedger()
    await own.run(`ALTER DATABASE ${own.address.database} SET default_transaction_isolation = 'repeatable read'`)
    await expectFailure(
      own.address,
      OperatorError,
      'ledger-unusable',
      /default_transaction_isolation to "repeatable read"/,
    )
  })

  test('hosts are listed with their claims', async () => {
    const own = await newLedger()
    const [nas, laptop] = await openTwo(await testLedger(own))
    await nas.claim('a', 'b')
    await laptop.close(nas)
    await laptop.ledger.renew(laptop.session)
    const view = track(openFleetView(own.address))
    expect(await view.readTotals()).toEqual({
      ...{ contents: 0, isAbout: false, claims: 3, doubts: 3, secondSends: 0, today: 3, leaseMs: LEASE_MS },
    })
    const mirrors = { done: 0, busy: 0, warned: 0, stopped: 0 }
    const untold = { publishedAt: null, sentInDay: 0, mirrors, waiting: 0, problems: 0 }
    const both = { ...untold, version: '1.0.0', seenAt: expect.any(Number) }
    expect(await view.listHosts({ countsClaims: true })).toEqual([
      { ...both, id: laptop.opened.hostId, name: 'laptop', isOpen: true, isSilent: false, claims: 0 },
      { ...both, id: nas.opened.hostId, name: 'nas', isOpen: false, isSilent: true, claims: 3 },
    ])
  })

  test('a forgotten host is listed no more, its claims are in doubt, and it may come back', async () => {
    const own = await newLedger()
    const [nas, laptop] = await openTwo(await testLedger(own))
    const restored = nas.session
    nas.place = 'here'
    await nas.open()
    await nas.claim('a')
    const view = track(openFleetView(own.address))
    expect(await view.forgetHost(nas.opened.hostId)).toBe('runs')
    expect(await kindsOf(laptop.claim('a'))).toEqual(['elsewhere'])
    await own.run(`UPDATE shelfd.session SET seen_at = seen_at - interval '${2 * LEASE_MS} milliseconds'`)
    expect(await view.forgetHost(nas.opened.hostId)).toBe('forgotten')
    expect(await view.forgetHost(nas.opened.hostId)).toBe('unknown')
    expect((await view.listHosts()).map(({ name }) => name)).toEqual(['laptop'])
    expect(await kindsOf(laptop.claim('a'))).toEqual(['doubtful'])
    // Its state may be an older one, and at another place.
    nas.place = 'there'
    await nas.open(restored)
    expect((await view.listHosts()).map(({ name }) => name)).toEqual(['laptop', 'nas'])
  })

  test('with roles of their own, a host may claim and not touch a table', async () => {
    const own = track(await createDatabase())
    const sql = hardenedSql(LEASE_MS)
    await own.run(sql)
    await own.run(sql)
    const user = `host_${own.address.database}`
    await own.run(`CREATE ROLE ${user} LOGIN PASSWORD 'secret' IN ROLE shelfd_host`)
    const address = { ...own.address, user, password: async () => 'secret' }
    const ledger = track(postgresLedger(address))
    const { session } = await ledger.open({ key: 'k', name: 'nas', version: '1' }, null)
    const library = newLibrary()
    expect(await ledger.claim(session, library, [wanted('a')], { newPerDay: 5 })).toEqual([{ kind: 'mine' }])
    await ledger.settle(session, 1n, [{ ...wanted('a'), session, library, kind: 'not-sent' }])
    const connection = track(new LedgerConnection(address))
    for (const statement of [
      'SELECT * FROM shelfd.claim',
      'DELETE FROM shelfd.content',
      'SELECT shelfd.check_session_1(1)',
      'DROP SCHEMA shelfd CASCADE',
    ]) {
      await expect(connection.query(statement)).rejects.toMatchObject({ code: 'ledger-refused' })
    }
    await own.run(`DROP ROLE ${user}`)
  })

  test('the same dump in two servers is two ledgers', async () => {
    const [server] = await database.run('SELECT system_identifier::text AS number FROM pg_control_system()')
    const { opened: at } = await TestHost.open(target)
    expect(at.generation.split('-')).toContain(server?.number)
  })

  test('a session without its row counts as closed', async () => {
    const [nas, laptop] = await openTwo(target)
    await nas.claim('a')
    await nas.open()
    await nas.open()
    await nas.open()
    expect(
      await database.run('SELECT count(*)::int AS n FROM shelfd.session WHERE host_id = $1', [nas.opened.hostId]),
    ).toEqual([{ n: 2 }])
    expect(await kindsOf(laptop.claim('a'))).toEqual(['doubtful'])
  })

  test('a session of another timeline is over', async () => {
    const nas = await TestHost.open(target)
    await database.run('UPDATE shelfd.session SET timeline = timeline + 1 WHERE id = $1', [nas.session])
    await expectLedgerError(nas.claim('a'), 'session-over')
    expect(await nas.ledger.renew(nas.session)).toMatchObject({ isOpen: false })
    await nas.open()
    expect(await kindsOf(nas.claim('a'))).toEqual(['mine'])
  })
})

async function newLedger(): Promise<TestDatabase> {
  const made = track(await createDatabase())
  await initialise(made.address, LEASE_MS)
  return made
}

/** A ledger in this database, whose hosts connect to this port. */
async function testLedger(own: TestDatabase, port = own.address.port): Promise<LedgerUnderTest> {
  const view = track(openFleetView(own.address))
  const proxy = track(await startLossyProxy(port))
  return {
    connect: () => {
      const ledger = postgresLedger({ ...own.address, port: proxy.port })
      onTestFinished(() => ledger[Symbol.asyncDispose]())
      return ledger
    },
    nowMs: () => Date.now(),
    passTime: async (durationMs) => {
      const by = [`${durationMs} milliseconds`]
      await own.run(
        `WITH gone AS (DELETE FROM shelfd.spend RETURNING *)
           INSERT INTO shelfd.spend SELECT service_id, slot - $1::interval, n FROM gone ORDER BY slot`,
        by,
      )
      await own.run('UPDATE shelfd.claim SET slot = slot - $1::interval', by)
      await own.run('UPDATE shelfd.refusal SET retry_at = retry_at - $1::interval', by)
      await own.run('UPDATE shelfd.session SET seen_at = seen_at - $1::interval', by)
    },
    // Tests call one client at a time.
    lose: (_, loss) => proxy.lose(loss),
    giveOrder: (hostId, order) => view.giveOrder(hostId, order),
    view,
    countExtraSends: async ({ remoteId }) => {
      const text = 'SELECT FROM shelfd.extra_send e JOIN shelfd.library l ON l.id = e.library_id WHERE l.remote_id = $1'
      return (await own.run(text, [remoteId])).length
    },
    mark: async () => {
      const restore = await own.copy()
      return async () => {
        await restore()
        await own.run('UPDATE shelfd.ledger SET generation = gen_random_uuid()')
      }
    },
  }
}

function track<T extends AsyncDisposable>(one: T): T {
  opened.push(one)
  return one
}

async function open(address: LedgerAddress) {
  await using ledger = postgresLedger(address)
  return await ledger.open({ key: crypto.randomUUID(), name: 'nas', version: '1' }, null)
}

async function expectFailure(
  address: LedgerAddress,
  kind: new (...args: never[]) => Error,
  code: string,
  message: RegExp,
): Promise<void> {
  const error = await open(address).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(kind)
  expect(error).toMatchObject({ code, message: expect.stringMatching(message) })
}
