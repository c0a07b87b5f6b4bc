import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { initialise } from '../../src/ledger/postgres/schema.ts'
import { configure } from '../support/daemon.ts'
import { type FaultyOptions, type FaultyService, startFaultyService } from '../support/faulty-service.ts'
import { expectExit, type Home, temporaryHome } from '../support/home.ts'
import { createDatabase, needsPostgres, type TestDatabase } from '../support/postgres.ts'
import { manyFiles, type Tree } from '../support/temporary.ts'

needsPostgres()

/** As short as the tests can be sure of on a loaded machine. */
const LEASE_MS = 2_000

interface Fleet extends AsyncDisposable {
  readonly service: FaultyService
  readonly database: TestDatabase
  /** A host whose directory "Papers" has these files. */
  host(name: string, papers: Tree, limits?: Readonly<Record<string, unknown>>): Promise<Home>
}

/** Hosts over one service that stores each upload anew, and one ledger. */
async function fleetOf({ isCreated = true, ...options }: FaultyOptions & { isCreated?: boolean } = {}): Promise<Fleet> {
  const service = await startFaultyService({ library: 'Research', hasNoDuplicateRule: true, ...options })
  const database = await createDatabase()
  if (isCreated) await initialise(database.address, LEASE_MS)
  const { user, host, port, database: name } = database.address
  const password = (await database.address.password?.()) ?? ''
  return {
    service,
    database,
    host: async (hostName, papers, limits = {}) => {
      const home = temporaryHome()
      home.write('Papers', papers)
      for (const [file, secret] of [
        ['password', password],
        ['token', service.token],
      ] as const) {
        writeFileSync(join(home.path, file), `${secret}\n`, { mode: 0o600 })
      }
      configure(home, {
        service: { url: service.url, tokenFile: join(home.path, 'token') },
        ingestion: { firstPoll: '5ms' },
        limits,
        mirrors: [{ name: 'papers', path: join(home.path, 'Papers'), library: 'Research', settle: '0s' }],
        fleet: {
          database: `postgres://${user}@${host}:${port}/${name}`,
          passwordFile: join(home.path, 'password'),
          host: hostName,
        },
      })
      return home
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}

describe('creating a ledger', () => {
  test('without one, a sync names the command that creates it, and sends nothing', async () => {
    await using fleet = await fleetOf({ isCreated: false })
    const nas = await fleet.host('nas', manyFiles(3, 3))
    expectExit(await nas.shelfd(['sync']), 78, /holds no ledger: create it by "shelfd fleet init"/)
    expect(fleet.service.count('uploadFile')).toBe(0)
    expectExit(await nas.shelfd(['fleet', 'init']), 2, /add --yes/)
    expectExit(
      await nas.shelfd(['fleet', 'init', '--yes']),
      0,
      /Created the ledger in ".*" at 127\.0\.0\.1:\d+ \(schema 1\)/,
    )
    expectExit(await nas.shelfd(['fleet', 'init', '--yes']), 0, /is up to date/)
    expect(await nas.sync([])).toMatchObject({ exitCode: 0, mirror: { uploads: { created: 3 } } })
  })

  test('a host without the section is in no fleet', async () => {
    expectExit(await temporaryHome().shelfd(['fleet', 'status']), 2, /no section "fleet"/)
  })
})

describe('hosts of one ledger', () => {
  test('send each content once, and each has all of its own [P3]', async () => {
    await using fleet = await fleetOf()
    const papers = manyFiles(40, 40)
    const hosts = [await fleet.host('nas', papers), await fleet.host('laptop', papers)]
    const runs = await Promise.all(hosts.map((host) => host.sync([])))
    expect(runs.map(({ exitCode }) => exitCode)).toEqual([0, 0])
    expect(fleet.service.count('uploadFile')).toBe(40)
    const created = runs.map(({ mirror }) => mirror.uploads.created)
    expect(created.reduce((sum, count) => sum + count)).toBe(40)
    for (const host of hosts) expect((await host.shelfd(['report', '--check'])).exitCode).toBe(0)
    const doctor = await hosts[0]?.json(['doctor'])
    expect(doctor.checks).toContainEqual(
      expect.objectContaining({ check: 'ledger', level: 'ok', message: expect.stringMatching(/, 2 hosts$/) }),
    )
    const status = await hosts[0]?.json(['fleet', 'status'])
    expect(status).toMatchObject({ contents: 40, claims: 0, secondSends: 0 })
    expect(status.hosts.map(({ name, isOpen }: { name: string; isOpen: boolean }) => [name, isOpen])).toEqual([
      ['laptop', false],
      ['nas', false],
    ])
    const shown = await hosts[0]?.shelfd(['fleet', 'status'])
    expect(shown?.stdout).toMatch(/LAST BEAT +CLAIMS\nlaptop .* closed +\d\d:\d\d:\d\d +0\nnas /)
  })

  test('keep nothing from others that they cannot send soon while they wait', async () => {
    await using fleet = await fleetOf()
    const laptop = await fleet.host('laptop', { 'slow.md': 'slow' })
    const nas = await fleet.host('nas', { 'a.md': 'a', 'b.md': 'b', 'c.md': 'c', 'slow.md': 'slow' }, { newPerRun: 1 })
    const pi = await fleet.host('pi', { 'a.md': 'a', 'b.md': 'b', 'c.md': 'c' })
    const held = fleet.service.holdUploads(1, 1)
    const sending = laptop.sync([])
    await held.begun
    fleet.service.onUploadBegun = () => undefined
    const waiting = nas.sync([])
    // Whatever the one has not sent is the other's, while the first upload is still under way.
    await expect.poll(() => fleet.service.count('uploadFile'), { timeout: 20_000 }).toBe(1)
    expect(await pi.sync([])).toMatchObject({ exitCode: 0, mirror: { uploads: { created: 2, aliases: 1 } } })
    held.release()
    expect((await sending).exitCode).toBe(0)
    expect((await waiting).exitCode).toBe(0)
  })

  test('keep a limit of a day together [P21]', async () => {
    await using fleet = await fleetOf()
    const limits = { newPerDay: 10 }
    const nas = await fleet.host('nas', manyFiles(8, 8), limits)
    const laptop = await fleet.host('laptop', { 'more/a.md': 'a', 'more/b.md': 'b', 'more/c.md': 'c' }, limits)
    expect((await nas.sync([])).exitCode).toBe(0)
    const run = await laptop.sync([])
    expect(run).toMatchObject({ exitCode: 8, mirror: { uploads: { created: 2 } } })
    expect(fleet.service.count('uploadFile')).toBe(10)
  })

  test('do not try what the service refused to one of them', async () => {
    await using fleet = await fleetOf()
    fleet.service.answer = ({ route, body }) =>
      route === 'uploadFile' && body.includes('poison') ? { status: 422, body: { message: 'No.' } } : undefined
    const nas = await fleet.host('nas', { 'bad.md': 'poison', 'good.md': 'good' })
    const laptop = await fleet.host('laptop', { 'same.md': 'poison' })
    expect((await nas.sync([])).exitCode).toBe(1)
    fleet.service.forget()
    expect((await laptop.sync([])).exitCode).toBe(1)
    expect(fleet.service.count('uploadFile')).toBe(0)

    // What one decides holds for all, once it has spoken with the ledger.
    fleet.service.answer = () => undefined
    expect((await laptop.shelfd(['failed', 'retry', '--all'])).exitCode).toBe(0)
    expect(await laptop.sync([])).toMatchObject({ exitCode: 0, mirror: { uploads: { created: 1 } } })
    expect((await nas.shelfd(['failed', 'retry', '--all'])).exitCode).toBe(0)
    expect(await nas.sync([])).toMatchObject({ exitCode: 0, mirror: { uploads: { created: 0, aliases: 1 } } })
  })

  test('one that joins with receipts of its own brings them', async () => {
    await using fleet = await fleetOf()
    const papers = manyFiles(10, 10)
    const nas = await fleet.host('nas', papers)
    const alone = { SHELFD_CONFIG: join(nas.path, 'alone.yaml') }
    const own = `service: { url: ${fleet.service.url}, tokenFile: token }\nmirrors: [{ name: papers, path: Papers, library: Research }]\n`
    writeFileSync(join(nas.path, 'alone.yaml'), own)
    expect((await nas.sync([], alone)).exitCode).toBe(0)
    nas.write('Papers', { 'new.md': 'new' })
    expect((await nas.sync([])).exitCode).toBe(0)
    const laptop = await fleet.host('laptop', papers)
    fleet.service.forget()
    expect(await laptop.sync([])).toMatchObject({ exitCode: 0, mirror: { uploads: { created: 0, aliases: 10 } } })
    expect(fleet.service.count('uploadFile')).toBe(0)
  })

  test('look for what a killed host was sending, and send it only if it is not there [P4]', async () => {
    await using fleet = await fleetOf()
    const papers = manyFiles(6, 6)
    const nas = await fleet.host('nas', papers)
    const laptop = await fleet.host('laptop', papers)
    // Two uploads have arrived, and their answers are held; the rest of the claims is untouched.
    const held = fleet.service.holdUploads(3, 2)
    const killed = nas.start(['sync'])
    await held.begun
    await killed.kill()
    held.release()
    const run = await laptop.sync([])
    expect({ exitCode: run.exitCode, stderr: run.stderr }).toMatchObject({ exitCode: 0 })
    expect((await nas.sync([])).exitCode).toBe(0)
    const names = fleet.service.requests.filter(({ status }) => status === 201).map(({ fileName }) => fileName)
    expect(names.filter((name) => name !== undefined).toSorted()).toEqual(
      [...new Set(names)].filter((name) => name !== undefined).toSorted(),
    )
    expect(await laptop.json(['fleet', 'status'])).toMatchObject({ contents: 6, claims: 0, secondSends: 0 })
  })

  test('a copied state is refused beside its living host [P16]', async () => {
    await using fleet = await fleetOf()
    const nas = await fleet.host('nas', manyFiles(3, 3))
    expect((await nas.sync([])).exitCode).toBe(0)
    const copy = await fleet.host('nas', manyFiles(5, 5))
    cpSync(nas.stateDir, copy.stateDir, { recursive: true })
    nas.write('Papers', { 'own.md': 'own' })
    expect((await nas.sync([])).exitCode).toBe(0)
    fleet.service.forget()
    expectExit(await copy.shelfd(['sync', '--accept-root']), 78, /its state was copied/)
    expect(fleet.service.count('uploadFile')).toBe(0)
  })

  test('send nothing while the ledger is away, and go on once it is back', async () => {
    await using fleet = await fleetOf()
    const nas = await fleet.host('nas', manyFiles(4, 4))
    await fleet.database.refuse(true)
    expectExit(await nas.shelfd(['sync', '--retry-for', '1s']), 5, /ledger .* is away/i)
    expect(fleet.service.count('uploadFile')).toBe(0)
    await fleet.database.refuse(false)
    expect(await nas.sync([])).toMatchObject({ exitCode: 0, mirror: { uploads: { created: 4 } } })
  })
})
