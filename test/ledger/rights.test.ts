/** What the role of one host can do at a ledger on PostgreSQL to the others, and what it may leave behind. */
import { createHash } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { hardenedSql } from '../../src/ledger/postgres/ledger-schema.ts'
import { openFleetView } from '../../src/ledger/postgres/postgres-fleet-view.ts'
import { postgresLedger } from '../../src/ledger/postgres/postgres-ledger.ts'
import { createDatabase, needsPostgres, type TestDatabase } from '../support/postgres.ts'
import { expectLedgerError, kindsOf, NO_LIMIT, newLibrary, wanted } from './test-host.ts'

const isThere = needsPostgres()
let database: TestDatabase
let roles: readonly string[] = []

beforeAll(async () => {
  if (!isThere) return
  database = await createDatabase()
  await database.run(hardenedSql(60_000))
  roles = ['honest', 'evil'].map((name) => `${name}_${database.address.database}`)
  for (const role of roles) await database.run(`CREATE ROLE ${role} LOGIN PASSWORD 'secret' IN ROLE shelfd_host`)
})

afterAll(async () => {
  for (const role of roles) await database.run(`DROP ROLE ${role}`)
  await database?.[Symbol.asyncDispose]()
})

function addressOf(name: 'honest' | 'evil') {
  const [honest = '', evil = ''] = roles
  return { ...database.address, user: name === 'honest' ? honest : evil, password: async () => 'secret' }
}

interface Joined {
  readonly ledger: Ledger
  readonly session: bigint
  readonly hostId: number
}

/** A host with the role of this name. */
async function join(name: 'honest' | 'evil'): Promise<Joined> {
  const ledger = postgresLedger(addressOf(name))
  onTestFinished(() => ledger[Symbol.asyncDispose]())
  const { session, hostId } = await ledger.open({ key: crypto.randomUUID(), name, version: '1' }, null)
  return { ledger, session, hostId }
}

/** Statements as somebody writes them who has the role of this name. */
async function sqlAs(name: 'honest' | 'evil') {
  const { host, port, user, database: of } = addressOf(name)
  const client = new pg.Client({ host, port, user, password: 'secret', database: of })
  await client.connect()
  onTestFinished(() => client.end())
  return async (text: string, values: readonly unknown[] = []) => (await client.query(text, [...values])).rows
}

test('a role cannot use the session of another one, though it knows its number [S-30]', async () => {
  const [nas, thief] = [await join('honest'), await join('evil')]
  const library = newLibrary()
  await nas.ledger.claim(nas.session, library, [wanted('a')], NO_LIMIT)
  const end = { ...wanted('a'), session: nas.session, library, kind: 'created' as const, resourceId: 'r' }
  await expectLedgerError(thief.ledger.settle(nas.session, 1n, [end]), 'session-over')
  await expectLedgerError(thief.ledger.claim(nas.session, library, [wanted('b')], NO_LIMIT), 'session-over')
  await expectLedgerError(thief.ledger.takeFollowUps(nas.session, library, ['r']), 'session-over')
  const nothing = { sentInDay: 0, mirrors: [], problems: [], runs: [] }
  await expectLedgerError(thief.ledger.publish(nas.session, nothing), 'session-over')
  expect(await thief.ledger.renew(nas.session)).toMatchObject({ isOpen: false })
  await thief.ledger.close(nas.session)
  expect(await nas.ledger.renew(nas.session)).toMatchObject({ isOpen: true })
  await nas.ledger.settle(nas.session, 1n, [end])
  expect(await kindsOf(thief.ledger.claim(thief.session, library, [wanted('a')], NO_LIMIT))).toEqual(['stored'])
})

test('no number that a role may read is that of a session [S-30]', async () => {
  const nas = await join('honest')
  const library = newLibrary()
  await nas.ledger.claim(nas.session, library, [wanted('a')], NO_LIMIT)
  await nas.ledger.settle(nas.session, 1n, [
    { ...wanted('b'), session: nas.session, library, kind: 'created', resourceId: 'r' },
  ])
  const thief = await join('evil')
  const ask = await sqlAs('evil')
  const { origin, tenantId, remoteId } = library
  const at = [origin, tenantId, remoteId]
  const sha256 = [wanted('a').sha256]
  const answers = [
    await ask("SELECT * FROM shelfd.claim_1($1, $2, $3, $4, '{text/markdown}', $5, '{1}', $6, '{0}', null, null)", [
      ...[thief.session, ...at, sha256, [Buffer.from('[]')]],
    ]),
    await ask("SELECT * FROM shelfd.peek_1($1, $2, $3, '{text/markdown}', $4, '{1}', null)", [...at, sha256]),
    await ask("SELECT * FROM shelfd.take_follow_ups_1($1, $2, $3, $4, '{r}')", [thief.session, ...at]),
    await ask('SELECT * FROM shelfd.hosts_1(true)'),
    await ask('SELECT * FROM shelfd.content_1($1)', sha256),
  ]
  expect(answers.map((rows) => rows.length)).toEqual([1, 1, 1, expect.any(Number), expect.any(Number)])
  expect(JSON.stringify(answers)).not.toContain(String(nas.session))
})

test('MIME types that one role invents leave numbers for the others, also if it takes its calls back [S-30]', async () => {
  const [nas, thief] = [await join('honest'), await join('evil')]
  const ask = await sqlAs('evil')
  const { origin, tenantId, remoteId } = newLibrary()
  const invent = (from: number) =>
    ask(
      `SELECT * FROM shelfd.claim_1($1, $2, $3, $4, (SELECT array_agg('x/' || i) FROM generate_series($5::int, $5 + 499) i),
        '{}'::bytea[], '{}', '{}'::bytea[], '{}', null, null)`,
      [thief.session, origin, tenantId, remoteId, from],
    )
  for (let round = 0; round < 3; round += 1) {
    await ask('BEGIN')
    await invent(round * 500)
    await ask('ROLLBACK')
  }
  await invent(0)
  await invent(500)
  await expect(invent(1_000)).rejects.toMatchObject({ code: 'SF006' })
  const mime = 'application/x-new'
  const [claimed] = await nas.ledger.claim(nas.session, newLibrary(), [wanted('c', '/c', mime)], NO_LIMIT)
  expect(claimed).toEqual({ kind: 'mine' })
  expect(await database.run('SELECT max(id) AS id FROM shelfd.mime')).toMatchObject([{ id: 1_002 }])
})

test('an order that a host has not taken yet is kept once, and a thousand at most [S-30]', async () => {
  const { hostId } = await join('honest')
  const ask = await sqlAs('evil')
  const give = async (mirror: string, times: number) =>
    await ask('SELECT shelfd.give_order_1($1, $2, $3) FROM generate_series(1, $4::int)', [
      hostId,
      'sync',
      mirror,
      times,
    ])
  await expect(give('x'.repeat(2_000), 1)).rejects.toMatchObject({ code: '23514' })
  await give('papers', 50)
  const count = async () =>
    (await database.run('SELECT count(*)::int AS n FROM shelfd.host_order WHERE host_id = $1', [hostId]))[0]?.n
  expect(await count()).toBe(1)
  const many = "SELECT shelfd.give_order_1($1, 'sync', 'm' || i) FROM generate_series(1, $2::int) i"
  await ask(many, [hostId, 999])
  expect(await count()).toBe(1_000)
  await expect(ask(many, [hostId, 1_000])).rejects.toMatchObject({ code: 'SF006' })
  await using view = openFleetView(database.address)
  await expect(view.giveOrder(hostId, { kind: 'pause', mirror: null })).rejects.toMatchObject({
    code: 'ledger-unusable',
    message: expect.stringMatching(/1000 orders that it has not taken yet/),
  })
})

test('a wait that one host asks of the others is an hour at most, and one a host [S-30]', async () => {
  const [nas, thief] = [await join('honest'), await join('evil')]
  const { origin } = newLibrary()
  for (const one of ['https://a.example', 'https://b.example', origin])
    await thief.ledger.renew(thief.session, { origin: one, waitLeftMs: 1e12, isBusy: false })
  const { waitMs } = await nas.ledger.renew(nas.session, { origin, waitLeftMs: 0, isBusy: false })
  expect(waitMs).toBeGreaterThan(3_500_000)
  expect(waitMs).toBeLessThanOrEqual(3_600_000)
  expect(await database.run('SELECT origin FROM shelfd.service_wait WHERE host_id = $1', [thief.hostId])).toEqual([
    { origin },
  ])
  const dead = postgresLedger(addressOf('evil'))
  onTestFinished(() => dead[Symbol.asyncDispose]())
  await dead.renew(1n, { origin: 'https://c.example', waitLeftMs: 1_000, isBusy: false })
  expect(await database.run("SELECT FROM shelfd.service_wait WHERE origin = 'https://c.example'")).toEqual([])
})

test('a host reports a bounded number of problems, and names and places of a bounded length [S-30]', async () => {
  const thief = await join('evil')
  const ask = await sqlAs('evil')
  const publish = (problems: number, name: string) =>
    ask(
      `SELECT shelfd.publish_1($1, 0, ARRAY[$2], '{✓}', '{0}', '{0}', ARRAY['{}'], array_fill('m'::text, ARRAY[$3::int]),
        (SELECT array_agg(i) FROM generate_series(1, $3::int) i), array_fill(null::bytea, ARRAY[$3::int]),
        array_fill('{}'::text, ARRAY[$3::int]), '{}', '{}')`,
      [thief.session, name, problems],
    )
  await publish(1_000, 'papers')
  await expect(publish(10_001, 'papers')).rejects.toMatchObject({ code: 'SF006' })
  await expect(publish(1, 'x'.repeat(2_000))).rejects.toMatchObject({ code: '23514' })
  const claim = (count: number, place: Buffer) => {
    const shas = Array.from({ length: count }, (_, index) => createHash('sha256').update(`${index}`).digest())
    const columns = [shas, shas.map(() => 1), shas.map(() => place), shas.map((_, index) => index)]
    return ask("SELECT * FROM shelfd.claim_1($1, 'https://d.example', 1, 'l', '{a/b}', $2, $3, $4, $5, null, null)", [
      thief.session,
      ...columns,
    ])
  }
  await expect(claim(501, Buffer.from('[]'))).rejects.toMatchObject({ code: 'SF006' })
  await expect(claim(5, Buffer.alloc(1 << 20))).rejects.toMatchObject({ code: 'SF006' })
  await expect(ask("SELECT * FROM shelfd.open_1('k', repeat('x', 501), '1', null, null, false)")).rejects.toMatchObject(
    { code: '23514' },
  )
})

test('what others claim is never too much for a host: a claim that is full goes to nobody [S-30]', async () => {
  const [nas, thief] = [await join('honest'), await join('evil')]
  const library = newLibrary()
  const big = wanted('a', `/${'x'.repeat(4_000_000)}`)
  await thief.ledger.claim(thief.session, library, [big], NO_LIMIT)
  await thief.ledger.close(thief.session)
  const answers = await nas.ledger.claim(
    nas.session,
    library,
    [wanted('a', `/${'y'.repeat(300_000)}`), wanted('b')],
    NO_LIMIT,
  )
  expect(answers).toEqual([{ kind: 'elsewhere', host: 'evil', owner: undefined }, { kind: 'mine' }])
})

test.each(['SQL, DMY', 'Postgres, MDY', 'German'])(
  'what was not sent counts no more, whatever DateStyle the role has: %s [S-30]',
  async (style) => {
    const [role] = roles
    await database.run(`ALTER ROLE ${role} SET datestyle = '${style}'`)
    await database.run(`ALTER ROLE ${role} SET timezone = 'Asia/Kolkata'`)
    onTestFinished(async () => void (await database.run(`ALTER ROLE ${role} RESET ALL`)))
    const { ledger, session } = await join('honest')
    const library = newLibrary()
    const limit = { newPerDay: 1 }
    expect(await kindsOf(ledger.claim(session, library, [wanted('a')], limit))).toEqual(['mine'])
    expect(await kindsOf(ledger.claim(session, library, [wanted('b')], limit))).toEqual(['held'])
    await ledger.settle(session, 1n, [{ ...wanted('a'), session, library, kind: 'not-sent' }])
    expect(await kindsOf(ledger.claim(session, library, [wanted('b')], limit))).toEqual(['mine'])
  },
)

test('what another host wrote that cannot be read concerns its content alone [S-30]', async () => {
  const [nas, thief] = [await join('honest'), await join('evil')]
  const ask = await sqlAs('evil')
  const library = newLibrary()
  const claimAt = (words: string, place: string | null) =>
    ask("SELECT * FROM shelfd.claim_1($1, $2, $3, $4, '{text/markdown}', $5, '{1}', $6, '{0}', null, null)", [
      ...[thief.session, library.origin, library.tenantId, library.remoteId],
      ...[[wanted(words).sha256], [place === null ? null : Buffer.from(place)]],
    ])
  const places = [
    'no JSON',
    '',
    '{}',
    '[]',
    '[["a"]]',
    '[["a",1]]',
    '[["","/"]]',
    `[["${'x'.repeat(70_000)}","/"]]`,
    null,
  ]
  for (const [index, place] of places.entries()) await claimAt(`odd ${index}`, place)
  await claimAt('even', '[["a","/Papers"]]')
  const refusal = { code: 'nonsense', message: 'it says so', retryAt: 9e15, isSetAside: false }
  await thief.ledger.settle(thief.session, 1n, [
    { ...wanted('refused'), session: thief.session, library, kind: 'refused', refusal },
    { ...wanted('stored'), session: thief.session, library, kind: 'created', resourceId: '../../tenants' },
  ])
  await thief.ledger.close(thief.session)
  const odd = places.map((_, index) => wanted(`odd ${index}`))
  const others = ['even', 'refused', 'stored', 'new'].map((words) => wanted(words))
  expect(await nas.ledger.claim(nas.session, library, [...odd, ...others], NO_LIMIT)).toEqual([
    ...odd.map(() => ({ kind: 'unreadable', host: 'evil' })),
    { kind: 'doubtful', host: 'evil', places: expect.arrayContaining([{ path: 'a', remoteDirectory: '/Papers' }]) },
    { kind: 'refused', host: 'evil', ...refusal, code: 'request-rejected', retryAt: null },
    { kind: 'unreadable', host: 'evil' },
    { kind: 'mine' },
  ])
})

test('a host with more problems than the ledger keeps reports the first ones [S-30]', async () => {
  const { ledger, session, hostId } = await join('honest')
  const problems = Array.from({ length: 10_050 }, (_, index) => ({
    ...{ mirror: `mirror ${index % 20}`, path: `${index}`, code: 'unreadable', message: 'No.', content: null },
  }))
  await ledger.publish(session, { sentInDay: 0, mirrors: [], problems, runs: [] })
  const n = "SELECT count(*)::int AS n FROM shelfd.published_problem WHERE host_id = $1 AND problem LIKE '%No.%'"
  expect(await database.run(n, [hostId])).toEqual([{ n: 10_000 }])
})
