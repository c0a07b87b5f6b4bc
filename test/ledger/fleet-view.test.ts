import { afterAll, beforeAll, expect, test } from 'vitest'
import type { FleetView } from '../../src/ledger/fleet-view.ts'
import { initialise } from '../../src/ledger/postgres/ledger-schema.ts'
import { openFleetView } from '../../src/ledger/postgres/postgres-fleet-view.ts'
import { makeLargeFleet } from '../support/large-fleet.ts'
import { createDatabase, needsPostgres, type TestDatabase } from '../support/postgres.ts'
import { mirror, problem, run } from './sentences/published.ts'

const isThere = needsPostgres()
let database: TestDatabase
let view: FleetView

beforeAll(async () => {
  if (!isThere) return
  database = await createDatabase()
  await initialise(database.address, 60_000)
  await makeLargeFleet(database, { mirror: mirror('papers'), problem: problem('papers', 'a.md', 'a'), run: run(1) })
  view = openFleetView(database.address)
})

afterAll(async () => {
  await view?.[Symbol.asyncDispose]()
  await database?.[Symbol.asyncDispose]()
})

test('a thousand hosts with three mirrors each are read as they reported', async () => {
  const hosts = await view.listHosts({ countsClaims: true })
  const [totals, mirrors] = [await view.readTotals(), await view.listMirrors(null)]
  expect(hosts).toHaveLength(1_000)
  expect(hosts[0]).toMatchObject({ claims: 50, mirrors: { done: 3 }, waiting: 9, problems: 6, sentInDay: 1 })
  expect(totals).toMatchObject({ isAbout: true, claims: 50_000, doubts: 0 })
  expect(Math.abs(totals.contents - 200_000)).toBeLessThan(20_000)
  expect(mirrors).toHaveLength(3_000)
})

test('claims are not counted where nobody wants to know', async () => {
  const [first] = await view.listHosts()
  expect(first).toMatchObject({ claims: null, waiting: 9 })
  expect(await view.countSecondSends()).toBe(0)
})

test('the newest runs and the problems of one content are found among those of a thousand hosts', async () => {
  expect(await view.listRuns({ hostId: null, limit: 20 })).toHaveLength(20)
  expect(await view.listProblems({ hostId: 7, limit: 99 })).toHaveLength(20)
  expect(await view.listProblems({ hostId: null, limit: 9, sha256: 'ab'.repeat(32) })).toEqual([])
  expect(await view.explainContent('ab'.repeat(32))).toEqual([])
})

test.each(['{}', 'no JSON'])('what a host told in another shape (%s) is left out, and said [S-30]', async (state) => {
  const told: string[] = []
  await using own = openFleetView({
    ...database.address,
    onUnreadable: (what, host) => told.push(`${what} of ${host}`),
  })
  await database.run("UPDATE shelfd.published_mirror SET state = $1 WHERE host_id = 1 AND name = 'notes'", [state])
  expect((await own.listMirrors(1)).map(({ name }) => name)).toEqual(['papers', 'scans'])
  expect(told).toEqual([expect.stringMatching(/^a report of ./)])
})

test('times that no clock can show are no times [S-30]', async () => {
  const [row] = await database.run('SELECT run FROM shelfd.published_run LIMIT 1')
  const odd = JSON.stringify({ ...JSON.parse(String(row?.run)), startedAt: 'soon' })
  await database.run('UPDATE shelfd.published_run SET run = $1 WHERE host_id = 3', [odd])
  expect(await view.listRuns({ hostId: 3, limit: 9 })).toEqual([])
  await database.run("UPDATE shelfd.session SET seen_at = '200000-01-01' WHERE host_id = 3")
  await database.run("UPDATE shelfd.session SET seen_at = '290000-01-01' WHERE host_id = 4")
  const seen = new Map((await view.listHosts()).map(({ id, seenAt }) => [id, seenAt]))
  expect([seen.get(3), seen.get(4)]).toEqual([Date.parse('+200000-01-01T00:00:00Z'), null])
})

test('a forgotten host takes with it what it told', async () => {
  await database.run("UPDATE shelfd.session SET seen_at = now() - interval '1 hour' WHERE host_id = 2")
  expect(await view.forgetHost(2)).toBe('forgotten')
  for (const table of ['host', 'mirror', 'problem', 'run'])
    expect(await database.run(`SELECT FROM shelfd.published_${table} WHERE host_id = 2`)).toEqual([])
})
