/** Something that shelfd did not put there lies where one of its files belongs: no command waits for it, and nothing is sent. */
import { execFileSync } from 'node:child_process'
import {
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { configure } from '../support/daemon.ts'
import { startFaultyService } from '../support/faulty-service.ts'
import { expectExit, type Home, homeWithPapers, type Outcome, temporaryHome, type Variables } from '../support/home.ts'
import { needs } from '../support/needs.ts'
import { runShelfd } from '../support/run-shelfd.ts'

/** Killed if it hangs: what a process waits for in the system, no signal to itself could end. */
const LAUNCHER = ['timeout', '--signal=KILL', '60']

const PATIENT = { timeout: 180_000 }

/** The files of a state directory that are opened without having been replaced before. */
const STATE_FILES = ['generation', 'lock', 'lock-journal', 'control', 'store.db', 'store.db-wal', 'store.db-shm']
const LIBRARY_FILES = [
  'lock',
  'holder',
  'token',
  'instance',
  'library.sqlite',
  'library.sqlite-wal',
  'library.sqlite-journal',
]

const KINDS: Readonly<Record<string, (file: string) => void>> = {
  'a pipe': (file) => execFileSync('mkfifo', ['-m', '600', file]),
  'a directory': (file) => mkdirSync(file),
}

function run({ env, path }: Home, args: readonly string[], more: Variables = {}): Promise<Outcome> {
  return runShelfd(args, { env: { ...env, ...more }, cwd: path, launcher: LAUNCHER }).ended
}

/** With a service there must be one library. */
async function usedHome(service?: { readonly url: string; readonly token: string }): Promise<Home> {
  const home = temporaryHome(service)
  if (service) configure(home, { mirrors: [{ name: 'Papers', path: join(home.path, 'Papers'), library: 'Research' }] })
  home.write('Papers', { 'a.md': 'A' })
  const { exitCode, stderr } = await home.shelfd(['sync', 'Papers'])
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 })
  home.write('Papers', { 'b.md': 'B' })
  return home
}

/** Runs `work` while `make` has made something else of the file. */
async function whileReplaced(file: string, make: (file: string) => void, work: () => Promise<void>): Promise<void> {
  const isThere = existsSync(file)
  if (isThere) renameSync(file, `${file}.aside`)
  make(file)
  await work()
  rmSync(file, { recursive: true })
  if (isThere) renameSync(`${file}.aside`, file)
}

describe.each(Object.entries(KINDS))('%s in place of a file of the state', (kind, make) => {
  test('what lies in place of a file of the state is named at once [P24, F-PR-16]', PATIENT, async () => {
    const service = await startFaultyService({ library: 'Research' })
    const home = await usedHome(service)
    service.forget()
    for (const file of STATE_FILES.map((name) => join(home.stateDir, name))) {
      await whileReplaced(file, make, async () => {
        const what = `"${file}": it is ${kind}, not a file that shelfd wrote`
        expectExit(await run(home, ['sync', 'Papers']), 78, what)
        expect((await run(home, ['status'])).stderr).toContain(what)
      })
    }
    expect(service.requests).toEqual([])
  })

  test('what lies in place of a file of the library is named at once [F-PR-16]', PATIENT, async () => {
    const home = await usedHome()
    for (const file of LIBRARY_FILES.map((name) => join(home.dataDir, name))) {
      await whileReplaced(file, make, async () => {
        expectExit(await run(home, ['sync', 'Papers']), 78, `"${file}": it is ${kind}`)
      })
    }
  })
})

test('a file of the state that is far too large is not read [F-PR-16]', PATIENT, async () => {
  const home = await usedHome()
  const makeLarge = (file: string) => {
    writeFileSync(file, '')
    truncateSync(file, 2 ** 30)
  }
  for (const file of [join(home.stateDir, 'generation'), join(home.stateDir, 'control'), join(home.dataDir, 'token')]) {
    await whileReplaced(file, makeLarge, async () => {
      expectExit(await run(home, ['sync', 'Papers']), 78, `"${file}": it has ${2 ** 30} bytes`)
    })
  }
})

test('a lock that is no lock names the file to move away [F-PR-16]', async () => {
  const home = await usedHome()
  const file = join(home.stateDir, 'lock')
  writeFileSync(file, 'not a database at all'.repeat(300))
  for (const args of [['sync', 'Papers'], ['status']]) {
    expectExit(await home.shelfd(args), 78, /lock": it is not a lock file/)
  }
  rmSync(file)
  expect(await home.shelfd(['sync', 'Papers'])).toMatchObject({ exitCode: 0 })
})

test('a link in place of the database is not followed [F-PR-16]', async () => {
  const home = homeWithPapers({ 'a.md': 'A' })
  mkdirSync(home.stateDir, { recursive: true, mode: 0o700 })
  symlinkSync(join(home.path, 'elsewhere'), join(home.stateDir, 'store.db'))
  for (const args of [['sync', 'Papers'], ['status'], ['doctor']]) {
    const { stdout, stderr } = await home.shelfd(args)
    expect(stdout + stderr).toMatch(/store\.db": it is a link/)
  }
})

test("another user's file in the state is refused with its remedy", async () => {
  needs('root')
  const home = await usedHome()
  const file = join(home.stateDir, 'generation')
  execFileSync('chown', ['-R', '1234', home.path])
  chownSync(file, 4321, 4321)
  vi.spyOn(process, 'geteuid').mockReturnValue(1234)
  onTestFinished(() => void vi.restoreAllMocks())
  expectExit(
    await home.shelfd(['sync', 'Papers']),
    78,
    `Cannot use "${file}": it belongs to user 4321; run: sudo chown 1234 "${file}"`,
  )
})

describe('a database that is no store', () => {
  /** With the numbers that a store has, and these tables. */
  function writeDatabase(home: Home, tables: string): void {
    const file = join(home.stateDir, 'store.db')
    const good = new Database(file, { readonly: true })
    const version = good.pragma('user_version', { simple: true })
    const applicationId = good.pragma('application_id', { simple: true })
    good.close()
    rmSync(file)
    const database = new Database(file)
    database.exec(`PRAGMA user_version = ${version}; PRAGMA application_id = ${applicationId}; ${tables}`)
    database.close()
  }

  test.each([
    ['no table', ''],
    ['some tables', "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT); INSERT INTO meta VALUES ('commits', '99')"],
  ])('a database with our numbers and %s is refused [F-PR-16]', async (_, tables) => {
    const service = await startFaultyService({ library: 'Research' })
    const home = await usedHome(service)
    service.forget()
    writeDatabase(home, tables)
    const written = readFileSync(join(home.stateDir, 'store.db'))
    for (const hasGeneration of [true, false]) {
      if (!hasGeneration) rmSync(join(home.stateDir, 'generation'))
      for (const args of [['sync', 'Papers'], ['status'], ['report', '--offline']]) {
        const { stderr } = expectExit(await home.shelfd(args), 78, /The store in|store\.db" is damaged/, String(args))
        expect(stderr).toMatch(/restore the whole directory/)
      }
    }
    expect(service.requests).toEqual([])
    if (tables === '') expect(readFileSync(join(home.stateDir, 'store.db')).equals(written)).toBe(true)
  })

  test('a database of another program without numbers is not made a store [F-PR-16]', async () => {
    const home = homeWithPapers({ 'a.md': 'A' })
    mkdirSync(home.stateDir, { recursive: true, mode: 0o700 })
    const database = new Database(join(home.stateDir, 'store.db'))
    database.exec('CREATE TABLE theirs (x)')
    expectExit(await home.shelfd(['sync', 'Papers']), 78, /database of another program/)
    expect(database.prepare('SELECT name FROM sqlite_schema').all()).toEqual([{ name: 'theirs' }])
    database.close()
  })
})

test('a state directory where none can be made is refused at once [F-PR-16]', PATIENT, async () => {
  const home = homeWithPapers({ 'a.md': 'A' })
  for (const place of ['/proc/x', '/proc/x/y', '/dev/null/x']) {
    expectExit(await run(home, ['sync', 'Papers', '--state-dir', place]), 78, `"${place}"`, place)
  }
  // The cache of compiled code lies in a directory of the user's choice as well.
  expect(await run(home, ['config', 'path'], { XDG_CACHE_HOME: '/proc/x' })).toMatchObject({ exitCode: 0 })
  expectExit(await run(home, ['sync', 'Papers'], { SHELFD_DATA_DIR: '/proc/x' }), 78, '/proc/x')
})
