import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { SCHEMA_VERSION } from '../../src/ledger/postgres/schema-version.ts'
import { fleetOf } from '../support/fleet-of-hosts.ts'
import { expectExit, temporaryHome } from '../support/home.ts'
import { readLibrary } from '../support/library-contents.ts'
import { needsPostgres } from '../support/postgres.ts'
import { manyFiles } from '../support/temporary.ts'

needsPostgres()

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
      new RegExp(`Created the ledger in ".*" at 127\\.0\\.0\\.1:\\d+ \\(schema ${SCHEMA_VERSION}\\)`),
    )
    expectExit(await nas.shelfd(['fleet', 'init', '--yes']), 0, /is up to date/)
    expect(await nas.sync([])).toMatchObject({ exitCode: 0, mirror: { uploads: { created: 3 } } })
  })

  test('an upgrade needs one, names hosts of other versions, and a second one changes nothing', async () => {
    await using fleet = await fleetOf({ isCreated: false })
    const nas = await fleet.host('nas', manyFiles(1, 1))
    expectExit(await nas.shelfd(['fleet', 'upgrade']), 78, /holds no ledger: create it by "shelfd fleet init"/)
    expectExit(await nas.shelfd(['fleet', 'init', '--yes']), 0, /^/)
    await fleet.sync('laptop', manyFiles(1, 1))
    await fleet.database.run("UPDATE shelfd.host SET version = '0.0.9'")
    expect((await nas.sync([])).exitCode).toBe(0)
    const upgraded = await nas.shelfd(['fleet', 'upgrade'])
    expect(upgraded.stdout + upgraded.stderr).toMatch(
      /^Up to date: the ledger .*\n {2}laptop has shelfd 0\.0\.9, this host /,
    )
    expect(await nas.json(['fleet', 'upgrade'])).toMatchObject({
      from: SCHEMA_VERSION,
      to: SCHEMA_VERSION,
      behind: [{ host: 'laptop' }],
    })
    await fleet.database.run('UPDATE shelfd.ledger SET schema = $1', [SCHEMA_VERSION + 2])
    fleet.service.forget()
    nas.write('Papers', { 'new.md': 'new' })
    expectExit(await nas.shelfd(['sync']), 78, /has schema .*, and this program knows up to .*: install a newer shelfd/)
    expect(fleet.service.count('uploadFile')).toBe(0)
  })

  test('hosts go on while the ledger gets the schema of the next version', async () => {
    await using fleet = await fleetOf()
    const papers = manyFiles(60, 60)
    const hosts = await Promise.all(['a', 'b', 'c', 'd'].map((name) => fleet.host(name, papers)))
    const held = fleet.service.holdUploads(10, 1)
    const runs = hosts.map((host) => host.sync([]))
    await held.begun
    await fleet.database.run(`BEGIN;
      ALTER TABLE shelfd.content ADD COLUMN note text;
      CREATE FUNCTION shelfd.claim_2(p_note text) RETURNS text LANGUAGE sql AS 'SELECT p_note';
      UPDATE shelfd.ledger SET schema = schema + 1; COMMIT`)
    held.release()
    expect((await Promise.all(runs)).map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0])
    expect(fleet.service.count('uploadFile')).toBe(60)
    // Each connects anew.
    for (const host of hosts) {
      expectExit(await host.run(['report', '--check']), 0, /^/)
      expect((await host.json(['fleet', 'status'])).secondSends).toBe(0)
    }
  })

  test('a host without the section is in no fleet', async () => {
    expectExit(await temporaryHome().shelfd(['fleet', 'status']), 2, /no section "fleet"/)
  })
})

describe('hosts of one ledger', () => {
  test('what others sent and is still being processed keeps no own upload waiting', async () => {
    await using fleet = await fleetOf()
    const papers = manyFiles(6, 6)
    const nas = await fleet.host('nas', papers)
    expect((await nas.sync(['--no-wait'])).exitCode).toBe(0)
    const laptop = await fleet.host('laptop', { ...papers, 'own.md': 'own' }, { inIngestion: 2 })
    const summary = { exitCode: 0, mirror: { uploads: { created: 1, aliases: 6 }, ingestion: { searchable: 7 } } }
    expect(await laptop.sync(['--wait-timeout', '10s'])).toMatchObject(summary)
  })

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
    // Each speaks of its own file.
    expect((await laptop.shelfd(['report'])).stdout).toMatch(
      /same\.md.*Cannot upload "same\.md", as host "nas" could not: the service answered 422/,
    )
    expect((await nas.sync([])).exitCode).toBe(1)
    expect((await nas.shelfd(['report'])).stdout).toMatch(/Cannot upload "bad\.md": the service answered 422/)

    // What one decides holds for all, once it has spoken with the ledger.
    fleet.service.answer = () => undefined
    expect((await laptop.shelfd(['failed', 'retry', '--all'])).exitCode).toBe(0)
    expect(await laptop.sync([])).toMatchObject({ exitCode: 0, mirror: { uploads: { created: 1 } } })
    expect((await nas.shelfd(['failed', 'retry', '--all'])).exitCode).toBe(0)
    expect(await nas.sync([])).toMatchObject({ exitCode: 0, mirror: { uploads: { created: 0, aliases: 1 } } })
  })

  test('name a content that was sent twice all the same [P3]', async () => {
    await using fleet = await fleetOf({ mayRepeat: 'an upload arrives after its host was given up' })
    const [nas, laptop] = [await fleet.host('nas', { 'a.md': 'same' }), await fleet.host('laptop', { 'a.md': 'same' })]
    const held = fleet.service.holdUploads(1, 1)
    const sending = nas.shelfd(['sync'])
    await held.begun
    fleet.service.onUploadBegun = () => undefined
    // As if all of it lay in a buffer of the network for longer than lease and grace.
    await fleet.database.run('UPDATE shelfd.session SET is_closed = true')
    expect(await laptop.sync([])).toMatchObject({ exitCode: 0, mirror: { uploads: { created: 1 } } })
    held.release()
    // Its session was closed: the receipt reaches the ledger with the next one, of this run or of the next.
    const runs = [await sending, await nas.shelfd(['sync'])]
    expect(runs.map(({ exitCode }) => exitCode)).toEqual([0, 0])
    expect(
      runs
        .map(({ stderr }) => stderr)
        .join('')
        .match(/a content was sent twice, by two hosts/g),
    ).toHaveLength(1)
    expect(readLibrary(fleet.service.dataDir)).toHaveLength(2)
    expect((await laptop.shelfd(['fleet', 'status'])).stdout).toMatch(/^second sends +1$/m)
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

  test('a dry run leaves out what others have sent, opens no session and claims nothing', async () => {
    await using fleet = await fleetOf()
    fleet.service.answer = ({ route, body }) =>
      route === 'uploadFile' && body.includes('refused') ? { status: 422, body: { message: 'No.' } } : undefined
    const papers = { ...manyFiles(6, 4), 'poison.md': 'refused everywhere' }
    const nas = await fleet.host('nas', papers)
    expect((await nas.sync([])).exitCode).toBe(1)
    const laptop = await fleet.host('laptop', { ...papers, 'own.md': 'own', 'same.md': 'own' })
    fleet.service.forget()
    for (const limits of [[], ['--max-new', '5']]) {
      const dry = await laptop.sync(['--dry-run', ...limits])
      expect(dry).toMatchObject({ exitCode: 1, mirror: { uploads: { created: 1, aliases: 7 } } })
    }
    expect(fleet.service.count('uploadFile')).toBe(0)
    expect((await nas.json(['fleet', 'status'])).hosts).toMatchObject([{ name: 'nas' }])
    expect(await laptop.sync([])).toMatchObject({ mirror: { uploads: { created: 1, aliases: 7 } } })
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

  test.each([false, true])(
    'a copied state is refused beside its living host, also first (%j) [P16]',
    async (isFirst) => {
      await using fleet = await fleetOf()
      const nas = await fleet.host('nas', manyFiles(3, 3))
      expect((await nas.sync([])).exitCode).toBe(0)
      const copy = await fleet.host('nas', manyFiles(5, 5))
      cpSync(nas.stateDir, copy.stateDir, { recursive: true })
      nas.write('Papers', { 'own.md': 'own' })
      if (!isFirst) expect((await nas.sync([])).exitCode).toBe(0)
      fleet.service.forget()
      expectExit(await copy.shelfd(['sync', '--accept-root']), 78, /state (?:was copied|is a copy)/)
      expect(fleet.service.count('uploadFile')).toBe(0)
      expect((await nas.sync([])).exitCode).toBe(0)
    },
  )

  test('a state that was moved is taken once its host was forgotten', async () => {
    await using fleet = await fleetOf()
    const nas = await fleet.host('nas', manyFiles(3, 3))
    expect((await nas.sync([])).exitCode).toBe(0)
    const moved = await fleet.host('nas', manyFiles(4, 4))
    cpSync(nas.stateDir, moved.stateDir, { recursive: true })
    const refused = await moved.shelfd(['sync', '--accept-root'])
    expectExit(refused, 78, /run "shelfd fleet forget" with the name of this host/)
    expectExit(await moved.shelfd(['fleet', 'forget', 'nas']), 0, /^/)
    expect(await moved.sync(['--accept-root'])).toMatchObject({ exitCode: 0, mirror: { uploads: { created: 1 } } })
  })
})
