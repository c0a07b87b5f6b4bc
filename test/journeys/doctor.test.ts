/** `shelfd doctor`: each check fails for its own fault, and none stops another or changes anything. */
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startEmbeddedLibrary } from '../../src/embedded/start-embedded.ts'
import { openStore } from '../../src/store/open-store.ts'
import { configure, startDaemon } from '../support/daemon.ts'
import { examine, withService } from '../support/examine.ts'
import { startFaultyService } from '../support/faulty-service.ts'
import { type Home, homeWithPapers, temporaryHome } from '../support/home.ts'
import { copyWithMigration } from '../support/next-version.ts'
import { MAIN } from '../support/run-shelfd.ts'

/** A home that was synced into the embedded library. */
async function withLibrary(): Promise<{ home: Home; root: string }> {
  const home = temporaryHome()
  const root = home.write('Papers', { 'a.md': 'A' })
  expect((await home.shelfd(['sync', 'Papers'])).exitCode).toBe(0)
  return { home, root }
}

/** A home with an empty store. */
function withStore(): Home {
  const home = temporaryHome()
  openStore(home.stateDir)[Symbol.dispose]()
  return home
}

/** Bytes and modes of everything in a directory, without the files that SQLite leaves beside a database it reads. */
function snapshot(directory: string): readonly string[] {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return entries
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((file) => !/-(?:wal|shm)$/.test(file))
    .map((file) => `${file} ${statSync(file).mode} ${readFileSync(file).toString('base64')}`)
    .sort()
}

describe('the doctor without findings', () => {
  test('every check of a configured service is good', async () => {
    const { home } = await withService()
    await home.shelfd(['sync'])
    const found = await examine(home)
    expect(found).toMatchObject({ exitCode: 0, failed: [] })
    expect(found.of('service').message).toMatch(/^http:\/\/127\.0\.0\.1:\d+ answers in \d+ ms$/)
    expect(found.of('rights').message).toBe('Research: may be listed, written and added to')
    expect(found.of('interface').message).toMatch(/^version 0\.9\.0; directory: path \(openapi\)/)
    for (const check of ['configuration', 'permissions', 'mirrors', 'credential', 'clock', 'state', 'disk'])
      expect({ check, ...found.of(check) }).toMatchObject({ check, level: 'ok' })
  })

  test('a fresh machine has nothing to fix', async () => {
    const home = temporaryHome()
    expect(await examine(home)).toMatchObject({ exitCode: 0, verdict: 'ok' })
    expect(readdirSync(home.path)).toEqual([])
  })

  test('the doctor changes nothing', async () => {
    const { home } = await withLibrary()
    const before = snapshot(home.path)
    expect((await examine(home)).of('library').message).toMatch(/intact/)
    expect(snapshot(home.path)).toEqual(before)
  })

  test('the doctor prints one line for each check', async () => {
    const { home } = await withLibrary()
    const { stdout } = await home.shelfd(['doctor'])
    expect(stdout).toMatch(/^ok {6}configuration {4}no file, the defaults hold$/m)
    expect(stdout).toMatch(/^warning daemon .* → shelfd service install$/m)
    expect(stdout).not.toMatch(/[✓✗]/)
  })
})

describe('the doctor on this computer', () => {
  test('an unreadable configuration fails its own check only', async () => {
    const home = withStore()
    home.write('config/shelfd', { 'config.yaml': 'mirors: []\n' })
    const found = await examine(home)
    expect(found).toMatchObject({ exitCode: 2, failed: ['configuration'] })
    expect(found.of('configuration')).toMatchObject({ code: 'bad-configuration' })
    expect(found.of('mirrors')).toMatchObject({ level: 'unchecked', message: 'not checked, see "configuration"' })
    expect(found.of('state')).toMatchObject({ level: 'ok' })
  })

  test('a state directory that others can write fails its check', async () => {
    const home = withStore()
    chmodSync(home.stateDir, 0o777)
    const found = await examine(home)
    expect(found.exitCode).toBe(2)
    expect(found.of('permissions')).toMatchObject({
      code: 'insecure-file',
      message: expect.stringContaining('chmod go-w'),
    })
  })

  test('a state that others can read is a warning', async () => {
    const home = withStore()
    chmodSync(home.stateDir, 0o755)
    const { of, exitCode } = await examine(home)
    expect(exitCode).toBe(0)
    expect(of('permissions')).toMatchObject({ level: 'warning', remedy: `chmod 700 "${home.stateDir}"` })
  })

  test('a mirror whose directory is missing fails its check', async () => {
    const home = temporaryHome()
    const root = home.write('Papers', {})
    configure(home, { mirrors: [{ path: root }] })
    rmSync(root, { recursive: true })
    const found = await examine(home)
    expect(found).toMatchObject({ exitCode: 3, failed: ['mirrors'] })
    expect(found.of('mirrors')).toMatchObject({ code: 'root-missing', message: expect.stringContaining(root) })
  })

  test('a mirror whose directory was replaced fails its check', async () => {
    const { home, root } = await withLibrary()
    renameSync(root, `${root}.old`)
    mkdirSync(root)
    expect((await examine(home)).of('mirrors')).toMatchObject({ code: 'root-mismatch' })
  })

  test('a mirror of another service fails its check', async () => {
    const { home } = await withService()
    await home.shelfd(['sync'])
    const other = await startFaultyService({ library: 'Research' })
    const found = await examine(home, { SHELFD_SERVICE_URL: other.url, SHELFD_TOKEN: other.token })
    expect(found).toMatchObject({ exitCode: 7, failed: ['mirrors'] })
    expect(found.of('mirrors')).toMatchObject({ code: 'origin-mismatch' })
  })

  test('nested mirrors fail their check', async () => {
    const home = temporaryHome()
    const root = home.write('Papers', { 'notes/a.md': 'A' })
    configure(home, { mirrors: [{ path: root }, { path: join(root, 'notes') }] })
    const found = await examine(home)
    expect(found).toMatchObject({ exitCode: 2, failed: ['overlap'] })
    expect(found.of('overlap')).toMatchObject({ code: 'mirrors-overlap' })
  })

  test('a damaged state fails its check', async () => {
    const home = withStore()
    const file = join(home.stateDir, 'store.db')
    writeFileSync(file, readFileSync(file).fill(0xa5, 8_192, 40_000))
    const found = await examine(home)
    expect(found).toMatchObject({ exitCode: 78, failed: ['state'] })
    expect(found.of('state')).toMatchObject({ code: 'store-damaged', message: expect.stringContaining('mv ') })
    expect(found.of('watches')).toMatchObject({ level: 'unchecked' })
  })

  test('the doctor does not migrate a state of an older version', async () => {
    const home = withStore()
    const main = copyWithMigration(MAIN, join(home.path, 'next'))
    const before = snapshot(home.stateDir)
    const { stdout } = await home.start(['doctor'], { main }).ended
    expect(stdout).toMatch(/^ok +state .*, of an older version: the next sync migrates it$/m)
    expect(snapshot(home.stateDir)).toEqual(before)
  })

  test('the size of a library is that of all its files', async () => {
    const home = homeWithPapers({ 'large.bin': new Uint8Array(20 * 2 ** 20).map(() => Math.random() * 256) })
    expect((await home.shelfd(['sync', 'Papers'])).exitCode).toBeLessThan(2)
    expect((await examine(home)).of('library').message).toMatch(/^on this computer, intact, 2\d(?:\.\d)? MiB /)
  })

  test('a damaged library fails its check', async () => {
    const home = temporaryHome()
    await (await startEmbeddedLibrary({ dataDir: home.dataDir }))[Symbol.asyncDispose]()
    const file = join(home.dataDir, 'library.sqlite')
    writeFileSync(file, readFileSync(file).fill(0xa5, 8_192, 40_000))
    const found = await examine(home)
    expect(found).toMatchObject({ exitCode: 78, failed: ['library'] })
    expect(found.of('library')).toMatchObject({ code: 'library-damaged' })
  })
})

describe('the doctor and the daemon', () => {
  test('a stopped daemon fails its check if a schedule needs it', async () => {
    const { home } = await withService({ schedule: '0 2 * * *' })
    const found = await examine(home)
    expect(found).toMatchObject({ exitCode: 1, failed: ['daemon'] })
    expect(found.of('daemon')).toMatchObject({ remedy: 'shelfd service install' })
  })

  test.runIf(process.platform === 'linux')('an installed daemon that is down fails its check', async () => {
    const home = temporaryHome()
    home.write('config/systemd/user', { 'shelfd.service': '[Service]\n' })
    const bin = home.write('bin', { systemctl: '#!/bin/sh\nexit 3\n' })
    chmodSync(join(bin, 'systemctl'), 0o755)
    const found = await examine(home, { PATH: `${bin}:${home.env.PATH}` })
    expect(found).toMatchObject({ exitCode: 1, failed: ['service manager'] })
    expect(found.of('service manager')).toMatchObject({ remedy: 'shelfd service start' })
  })

  test('a running daemon that cannot work fails its check', async () => {
    const { home, root } = await withService()
    rmSync(root, { recursive: true })
    const daemon = await startDaemon(home)
    await daemon.until('without root', ({ mirrors }) => mirrors.every(({ reason }) => reason !== null))
    const found = await examine(home)
    expect(found).toMatchObject({ exitCode: 3, failed: ['mirrors', 'daemon'] })
    expect(found.of('daemon')).toMatchObject({
      code: 'root-missing',
      message: expect.stringMatching(/^mirror:papers: /),
    })
    await daemon.stop()
  })
})
