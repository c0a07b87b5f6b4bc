import { describe, expect, test } from 'vitest'
import { type Fleet, fleetOf, LEASE_MS } from '../support/fleet-of-hosts.ts'
import { expectExit, type Home } from '../support/home.ts'
import { readLibrary } from '../support/library-contents.ts'
import { needsPostgres } from '../support/postgres.ts'
import { createReplicatedDatabase } from '../support/postgres-standby.ts'
import { manyFiles } from '../support/temporary.ts'

needsPostgres()

describe('a ledger that goes away in the middle', () => {
  test('nothing new is sent, scans go on, and what was sent is settled once it is back [P3]', async () => {
    await using fleet = await fleetOf()
    const papers = manyFiles(30, 30)
    const [nas, laptop] = [await fleet.host('nas', papers), await fleet.host('laptop', papers)]
    const held = fleet.service.holdUploads(5, 2)
    const runs = [nas, laptop].map((host) => host.shelfd(['sync', '--retry-for', '3s', '--transfers', '2']))
    await held.begun
    await fleet.database.refuse(true)
    const awayMs = performance.now()
    // Within the lease, what was claimed may still be sent.
    await expect.poll(() => performance.now() - awayMs, { timeout: 20_000 }).toBeGreaterThan(LEASE_MS)
    held.release()
    for (const run of runs) expectExit(await run, 5, /ledger .* is away/i)
    // Those that were under way when it went away.
    const sent = listStored(fleet)
    expect(sent.length).toBeLessThanOrEqual(4 + 2 * 2)

    nas.write('Papers', { 'meanwhile.md': 'written meanwhile' })
    expectExit(await nas.shelfd(['sync', '--retry-for', '1s']), 5, /ledger .* is away/i)
    expect(listStored(fleet)).toEqual(sent)
    expect((await nas.shelfd(['why', 'Papers/meanwhile.md'])).stdout).toMatch(/not sent|waits|new/i)

    await fleet.database.refuse(false)
    expect((await Promise.all([nas, laptop].map((host) => host.sync([])))).map(({ exitCode }) => exitCode)).toEqual([
      0, 0,
    ])
    await allIsWell(fleet, [nas, laptop], 31)
  })

  test('a daemon settles what it had sent soon after it is back', async () => {
    await using fleet = await fleetOf()
    const nas = await fleet.host('nas', manyFiles(3, 3), {}, { rescan: '1s' })
    const daemon = nas.start(['daemon'])
    await expect.poll(() => listStored(fleet).length, { timeout: 20_000 }).toBe(3)
    const held = fleet.service.holdUploads(1, 1)
    nas.write('Papers', { 'new.md': 'new' })
    await held.begun
    await fleet.database.refuse(true)
    held.release()
    await expect.poll(() => listStored(fleet).length, { timeout: 20_000 }).toBe(4)
    await fleet.database.refuse(false)
    await expect
      .poll(async () => (await fleet.database.run('SELECT FROM shelfd.content')).length, { timeout: 30_000 })
      .toBe(4)
    await daemon.kill()
  })
})

describe('a ledger without its last commits', () => {
  test.each(['in place', 'elsewhere'])(
    'put back %s: nothing is sent twice, and every receipt is back [P3, P4]',
    async (where) => {
      await using fleet = await fleetOf()
      const papers = manyFiles(8, 8)
      const [nas, laptop] = [await fleet.sync('nas', papers), await fleet.sync('laptop', papers)]
      const restore = await fleet.database.copy()
      const later = { 'b/common.md': 'common', 'b/lost.md': 'sent by the laptop alone' }
      laptop.write('Papers', later)
      expect((await laptop.sync([])).exitCode).toBe(0)
      nas.write('Papers', { 'a.md': 'sent by the nas alone', 'common.md': 'common' })
      expect((await nas.sync([])).exitCode).toBe(0)
      await restore()
      fleet.service.forget()

      const hosts = [nas, laptop]
      if (where === 'elsewhere') {
        // As a dump is restored, or a standby promoted. A host that was never there cannot know what is missing, so it looks.
        await fleet.database.run('UPDATE shelfd.ledger SET generation = gen_random_uuid()')
        const pi = await fleet.host('pi', { ...papers, ...later })
        expect((await pi.sync(['--adopt'])).exitCode).toBe(0)
        hosts.push(pi)
      }
      nas.write('Papers', { 'lost.md': 'sent by the laptop alone' })
      for (const host of hosts) expect((await host.sync([])).exitCode).toBe(0)
      expect(listStored(fleet)).toEqual([])
      await allIsWell(fleet, hosts, 11)
    },
  )
})

describe('a standby that is promoted', () => {
  test('without the last commits, amid uploads: nothing is sent twice, and every receipt is back [P3, P4]', async () => {
    await using replicated = await createReplicatedDatabase()
    await using fleet = await fleetOf({ database: replicated.database })
    const papers = manyFiles(8, 8)
    const [nas, laptop] = [await fleet.sync('nas', papers), await fleet.sync('laptop', papers)]
    await replicated.stopStandby()
    const later = { 'b/common.md': 'common', 'b/lost.md': 'sent by the laptop alone' }
    laptop.write('Papers', later)
    expect((await laptop.sync([])).exitCode).toBe(0)
    nas.write('Papers', Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`more-${at}.md`, `more ${at}`])))
    const held = fleet.service.holdUploads(4, 2)
    const sending = nas.shelfd(['sync', '--transfers', '2', '--retry-for', '60s'])
    await held.begun
    await replicated.failOver()
    expect(await fleet.database.run('SELECT shelfd.timeline_1() AS timeline')).toEqual([{ timeline: 2 }])
    held.release()
    // What has looked before the failover sends nothing more.
    expect([0, 5]).toContain((await sending).exitCode)

    const pi = await fleet.host('pi', { ...papers, ...later })
    const joined = await pi.shelfd(['sync', '--adopt'])
    expectExit(joined, 0, /before this host was there: the ledger may lack commits of others/)
    expect(joined.stderr).not.toMatch(/went back/)
    expectExit(await laptop.shelfd(['sync']), 0, /the ledger went back: it lacks receipts of this host/)
    nas.write('Papers', { 'lost.md': 'sent by the laptop alone' })
    for (const host of [nas, laptop, pi]) expect((await host.sync([])).exitCode).toBe(0)
    await allIsWell(fleet, [nas, laptop, pi], 8 + 2 + 12)
  })

  test('with all commits makes no host believe that some are lost, and nothing is sent again [P3]', async () => {
    await using replicated = await createReplicatedDatabase()
    await using fleet = await fleetOf({ database: replicated.database })
    const papers = manyFiles(8, 8)
    const nas = await fleet.sync('nas', papers)
    await replicated.failOver('fast')
    nas.write('Papers', { 'new.md': 'new' })
    expectExit(
      await nas.shelfd(['sync']),
      0,
      /^(?!.*went back).*the ledger has all receipts of this host, but may lack/s,
    )
    const pi = await fleet.host('pi', papers)
    expectExit(await pi.shelfd(['sync', '--adopt']), 0, /^(?!.*went back).*before this host was there/s)
    await allIsWell(fleet, [nas, pi], 9)
  })
})

/** What others have sent is nobody's fault. */
const UNSENT = 'local-only,processing,changed,missing-remotely,needs-attention,unknown'

async function allIsWell({ service, ...fleet }: Fleet, hosts: readonly Home[], contents: number): Promise<void> {
  for (const host of hosts) expectExit(await host.shelfd(['report', '--check', '--fail-on', UNSENT]), 0, /^/)
  expect(await hosts[0]?.json(['fleet', 'status'])).toMatchObject({ contents, claims: 0, secondSends: 0 })
  expect(await fleet.database.run('SELECT count(DISTINCT resource_id)::int AS n FROM shelfd.content')).toEqual([
    { n: contents },
  ])
  expect(readLibrary(service.dataDir)).toHaveLength(contents)
}

/** The names under which something was stored at the service. */
function listStored({ service }: Fleet): string[] {
  return service.requests.flatMap(({ route, status, fileName }) =>
    route === 'uploadFile' && status === 201 && fileName !== undefined ? [fileName] : [],
  )
}
