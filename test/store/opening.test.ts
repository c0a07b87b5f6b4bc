import { createHash } from 'node:crypto'
import { cpSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { LockedError, OperatorError } from '../../src/foundation/errors.ts'
import { openStore, openStoreReader, type Store } from '../../src/store/open-store.ts'
import { thrownBy } from '../local/trees.ts'
import { homeWithPapers } from '../support/home.ts'
import { migrationsWith } from '../support/next-version.ts'
import { seededRandom } from '../support/random.ts'
import { pinMirror, recordFile } from '../support/record-file.ts'
import { temporaryDirectory } from '../support/temporary.ts'

/** A state directory whose store has contents and was closed in order. */
function usedStore(contents = 1): string {
  const directory = temporaryDirectory()
  using store = openStore(directory)
  store.write(() => fill(store, contents))
  return directory
}

function fill(store: Store, contents: number): void {
  const mirror = pinMirror(store)
  for (let index = 0; index < contents; index += 1) {
    const sha256 = Buffer.alloc(32)
    sha256.writeUInt32BE(index)
    const mime = `text/x-${'filler'.repeat(20)}`
    recordFile(store, mirror, { name: `${index}`, sha256, mime, size: index })
  }
}

/** Copies a store as a crash would leave it: its record says open, so every page is read before the store is trusted. */
function copyAfterCrash(directory: string, change: (database: Buffer) => void): string {
  const copy = temporaryDirectory()
  cpSync(directory, copy, { recursive: true })
  const record = join(copy, 'generation')
  writeFileSync(record, readFileSync(record, 'utf8').replace(/"closed":{[^}]*}/, '"closed":null'))
  const file = join(copy, 'store.db')
  const database = readFileSync(file)
  change(database)
  writeFileSync(file, database)
  return copy
}

/** Sets pragmas in the database of a store, as another program or version would leave them. */
function setPragmas(directory: string, ...pragmas: string[]): void {
  const database = new Database(join(directory, 'store.db'))
  for (const pragma of pragmas) database.pragma(pragma)
  database.close()
}

/** Returns a copy of the named files of a store, taken while its last write is only in the log. */
function copyOfUnmerged(names: readonly string[]): string {
  const directory = usedStore()
  const copy = temporaryDirectory()
  using store = openStore(directory)
  store.write(() => store.mirrors.renameLibrary(1, 'only in the log'))
  for (const name of names) cpSync(join(directory, name), join(copy, name))
  return copy
}

/** Expects that opening is refused with exit 78 and changes no byte of the store. */
function expectUntouched(directory: string, code: 'store-damaged' | 'store-newer'): void {
  const file = join(directory, 'store.db')
  const before = readFileSync(file)
  const error = thrownBy(() => openStore(directory)[Symbol.dispose]())
  expect(error).toBeInstanceOf(OperatorError)
  expect(error).toMatchObject({ code })
  expect(readFileSync(file).equals(before)).toBe(true)
}

describe('a written store', () => {
  test('a write is durable from the first one on [P1]', () => {
    const directory = temporaryDirectory()
    using store = openStore(directory)
    store.write(() => fill(store, 1))
    // A second connection has its own pragmas; the write-ahead log shows that commits go there.
    expect(readdirSync(directory)).toContain('store.db-wal')
    using reader = openStoreReader(directory)
    expect(reader?.mirrors.list()).toHaveLength(1)
  })

  test('an empty database file counts as no store', () => {
    const directory = temporaryDirectory()
    writeFileSync(join(directory, 'store.db'), '')
    expect(openStoreReader(directory)).toBeUndefined()
  })

  test('a store is for its owner alone [S-05]', () => {
    const directory = join(temporaryDirectory(), 'made', 'here')
    const before = process.umask(0)
    try {
      using store = openStore(directory)
      store.write(() => fill(store, 1))
      expect(statSync(directory).mode & 0o777).toBe(0o700)
      const modes = readdirSync(directory).map((name) => [
        name,
        (statSync(join(directory, name)).mode & 0o777).toString(8),
      ])
      expect(modes.length).toBeGreaterThanOrEqual(4)
      expect(modes.filter(([, mode]) => mode !== '600')).toEqual([])
    } finally {
      process.umask(before)
    }
  })

  test('a reopened store has what was written', () => {
    const directory = usedStore(3)
    using store = openStore(directory)
    expect(store.mirrors.findByName('m')).toMatchObject({ path: '/m', rootInode: 2n, library: { remoteId: 'l' } })
  })
})

describe('the lock', () => {
  test('a store is held by one process at a time [P16]', () => {
    const directory = temporaryDirectory()
    const first = openStore(directory)
    expect(thrownBy(() => openStore(directory))).toBeInstanceOf(LockedError)
    first[Symbol.dispose]()
    openStore(directory)[Symbol.dispose]()
  })

  test('a locked store can be read meanwhile', () => {
    const directory = usedStore()
    using store = openStore(directory)
    using reader = openStoreReader(directory)
    store.write(() => store.mirrors.renameLibrary(1, 'Renamed'))
    expect(reader?.mirrors.list()[0]?.library.name).toBe('Renamed')
  })

  test('the lock is released when opening fails [P16]', () => {
    const directory = usedStore()
    const file = join(directory, 'store.db')
    const good = readFileSync(file)
    writeFileSync(file, 'no database')
    expect(thrownBy(() => openStore(directory))).toBeInstanceOf(OperatorError)
    writeFileSync(file, good)
    openStore(directory)[Symbol.dispose]()
  })

  test('one of many processes wins the lock, the others exit 0 or 11 [P16]', async () => {
    const home = homeWithPapers({ 'a.md': 'A' })
    const runs = await Promise.all([1, 2, 3].map(() => home.run(['sync', 'Papers'])))
    const codes = runs.map(({ exitCode }) => exitCode).sort()
    expect(codes[0]).toBe(0)
    expect(codes.every((code) => code === 0 || code === 11)).toBe(true)
    expect((await home.sync(['Papers'])).exitCode).toBe(0)
  })
})

describe('a store that changed (P24)', () => {
  test('a store whose database is gone is refused [P24, F-PR-10]', () => {
    const directory = usedStore()
    rmSync(join(directory, 'store.db'))
    const error = thrownBy(() => openStore(directory))
    expect(error).toMatchObject({ code: 'store-damaged' })
    expect(thrownBy(() => openStoreReader(directory))).toMatchObject({ code: 'store-damaged' })
    expect(readdirSync(directory)).not.toContain('store.db')
  })

  test('an older copy of a store is refused [P24]', () => {
    const directory = usedStore()
    const copy = readFileSync(join(directory, 'store.db'))
    openStore(directory)[Symbol.dispose]()
    writeFileSync(join(directory, 'store.db'), copy)
    expectUntouched(directory, 'store-damaged')
  })

  test('a store whose write-ahead log is missing is refused [P24]', () => {
    const copy = copyOfUnmerged(['store.db', 'generation'])
    expect(thrownBy(() => openStore(copy)[Symbol.dispose]())).toMatchObject({ code: 'store-damaged' })
  })

  test('a store recovers from its write-ahead log after a crash [P1]', () => {
    using store = openStore(copyOfUnmerged(['store.db', 'store.db-wal', 'generation']))
    expect(store.mirrors.list()[0]?.library.name).toBe('only in the log')
  })

  test('a store that was cut is refused [P24]', () => {
    const directory = usedStore(500)
    const file = join(directory, 'store.db')
    for (const share of [0.9, 0.5, 0.1]) {
      const copy = temporaryDirectory()
      cpSync(directory, copy, { recursive: true })
      truncateSync(join(copy, 'store.db'), Math.floor(statSync(file).size * share))
      expectUntouched(copy, 'store-damaged')
    }
  })

  test('a store that is empty or something else is refused', () => {
    for (const content of ['', 'not a database at all, but long enough to look like one'.repeat(100)]) {
      const directory = usedStore()
      writeFileSync(join(directory, 'store.db'), content)
      expectUntouched(directory, 'store-damaged')
    }
  })

  test('a store of another program is refused', () => {
    const directory = usedStore()
    setPragmas(directory, 'application_id = 1')
    expectUntouched(directory, 'store-damaged')
  })

  test('a store with flipped bits never gives wrong answers [P24]', () => {
    const directory = usedStore(500)
    const random = seededRandom(24)
    for (let round = 0; round < 40; round += 1) {
      const copy = copyAfterCrash(directory, (database) => {
        const at = Math.floor(random() * 100)
        database[at] = (database[at] ?? 0) ^ (1 << Math.floor(random() * 8))
      })
      try {
        openStore(copy)[Symbol.dispose]()
      } catch (error) {
        expect(error).toBeInstanceOf(OperatorError)
      }
    }
  })

  test('a store with a page of garbage is refused [P24]', () => {
    const directory = usedStore(500)
    const pages = statSync(join(directory, 'store.db')).size / 4_096
    expect(pages).toBeGreaterThan(10)
    for (const page of [1, Math.floor(pages / 2), pages - 1]) {
      const fillPage = (database: Buffer) => database.fill(0xa5, page * 4_096, (page + 1) * 4_096)
      expectUntouched(copyAfterCrash(directory, fillPage), 'store-damaged')
    }
  })

  test('an older store is backed up and migrated, also for reading [P23]', () => {
    const directory = usedStore()
    const migrationsDir = migrationsWith('src/store/migrations', "UPDATE library SET name = 'migrated'")
    using reader = openStoreReader(directory, migrationsDir)
    expect(reader?.mirrors.list()).toMatchObject([{ name: 'm', library: { name: 'migrated' } }])
    const backup = new Database(join(directory, 'store.db.v1.bak'), { readonly: true })
    expect(backup.pragma('user_version', { simple: true })).toBe(1)
    expect(backup.prepare('SELECT name FROM library').pluck().all()).toEqual(['L'])
    backup.close()
  })

  test('a store of a development version is refused with the way out [P23]', () => {
    const directory = usedStore()
    setPragmas(directory, `application_id = ${0x73686c64}`)
    expectUntouched(directory, 'store-damaged')
    for (const open of [openStore, openStoreReader])
      expect(thrownBy(() => open(directory))).toMatchObject({ message: /before the first release.*move it away/ })
  })

  test('another schema before the first release has another application_id [P23]', () => {
    const store = new Database(join(usedStore(), 'store.db'))
    const schema = readFileSync('src/store/migrations/001-initial.sql')
    const digest = createHash('sha256').update(schema).digest('hex').slice(0, 16)
    const applicationId = store.pragma('application_id', { simple: true })
    store.close()
    expect([digest, applicationId]).toEqual(['d03b4afc3411cd4b', 0x73686c34])
  })

  test('a store of a newer schema is left alone [P23]', () => {
    const directory = usedStore()
    setPragmas(directory, 'user_version = 999')
    expectUntouched(directory, 'store-newer')
    expect(thrownBy(() => openStoreReader(directory))).toMatchObject({ code: 'store-newer' })
  })
})
