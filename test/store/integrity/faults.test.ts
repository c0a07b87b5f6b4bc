/** Faults of the disk below the store, reported with what to do. */
import { openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { explainFaults } from '../../../src/store/integrity/explain-faults.ts'
import { GenerationFile, identityOf, readGenerationRecord } from '../../../src/store/integrity/generation.ts'
import { openStore, openStoreReader } from '../../../src/store/open-store.ts'
import { onlyRow } from '../../../src/store/sql.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

function databaseIn(directory: string, options?: Database.Options): Database.Database {
  const database = new Database(join(directory, 'some.db'), options)
  onTestFinished(() => void database.close())
  return database
}

/** Fills a database beyond its page limit, so that SQLite throws as on a full disk. */
function overfill(directory: string): void {
  const database = databaseIn(directory)
  database.exec('CREATE TABLE t (x); PRAGMA max_page_count = 3')
  database.prepare('INSERT INTO t VALUES (?)').run('x'.repeat(100_000))
}

function writeReadOnly(directory: string): void {
  databaseIn(directory).exec('CREATE TABLE t (x)')
  databaseIn(directory, { readonly: true }).exec('INSERT INTO t VALUES (1)')
}

describe('a store that cannot be written', () => {
  test('a full disk is distinguished from other write failures', () => {
    const directory = temporaryDirectory()
    expect(() => explainFaults(directory, () => overfill(directory))).toThrow(
      expect.objectContaining({ code: 'disk-full', message: expect.stringContaining(directory) }),
    )
  })

  test('a missing file is a full disk only where no room is left', () => {
    const missing = () => openSync(join(temporaryDirectory(), 'missing'), 'r')
    // This file system never has free space.
    expect(() => explainFaults('/proc', missing)).toThrow(expect.objectContaining({ code: 'disk-full' }))
    expect(() => explainFaults(temporaryDirectory(), missing)).toThrow(
      expect.objectContaining({ code: 'store-unusable' }),
    )
    const gone = join(temporaryDirectory(), 'gone')
    expect(() => explainFaults(gone, missing)).toThrow(expect.objectContaining({ code: 'store-unusable' }))
  })

  test('a store without write permission is unusable, not damaged', () => {
    const directory = temporaryDirectory()
    const work = () => writeReadOnly(directory)
    expect(() => explainFaults(join(directory, 'gone'), work)).toThrow(
      expect.objectContaining({ code: 'store-unusable' }),
    )
  })

  test('an error that is no fault of the store is passed on', () => {
    const bug = new TypeError('a bug')
    const work = () => {
      throw bug
    }
    expect(() => explainFaults(temporaryDirectory(), work)).toThrow(bug)
  })
})

describe('the generation record', () => {
  test('a generation record that cannot be written leaves the store open', () => {
    const directory = temporaryDirectory()
    const store = openStore(directory)
    const full = Object.assign(new Error('no space left'), { code: 'ENOSPC' })
    const spy = vi.spyOn(GenerationFile.prototype, 'writeDurably').mockImplementation(() => {
      throw full
    })
    onTestFinished(() => spy.mockRestore())
    store[Symbol.dispose]()
    spy.mockRestore()
    expect(readGenerationRecord(join(directory, 'generation'))?.closed).toBeNull()
    openStore(directory)[Symbol.dispose]()
    expect(readGenerationRecord(join(directory, 'generation'))?.closed).not.toBeNull()
  })

  test('a bug while writing the generation record is thrown', () => {
    const store = openStore(temporaryDirectory())
    const spy = vi.spyOn(GenerationFile.prototype, 'writeDurably').mockImplementation(() => {
      throw new TypeError('a bug')
    })
    onTestFinished(() => spy.mockRestore())
    expect(() => store[Symbol.dispose]()).toThrow('a bug')
  })

  test('the generation record follows its file through a checkpoint', () => {
    const directory = temporaryDirectory()
    using store = openStore(directory)
    const before = identityOf(join(directory, 'store.db'))
    // The value exceeds the log, so its pages go to the file itself, without a durable commit.
    store.writeRelaxed(() => store.keyValues.set('much', 'x'.repeat(20 * 2 ** 20)))
    const after = identityOf(join(directory, 'store.db'))
    expect(after).not.toEqual(before)
    expect(readGenerationRecord(join(directory, 'generation'))?.place).toEqual(after)
  })

  test('a generation record keeps the inodes of disks that use all 64 bits [F-FS-29]', () => {
    const file = join(temporaryDirectory(), 'generation')
    const record = { commits: 1, place: { inode: -(2n ** 60n), ctimeNs: -1n }, closed: null }
    new GenerationFile(file, record)[Symbol.dispose]()
    expect(readGenerationRecord(file)).toEqual(record)
  })

  test('an invalid generation record counts as missing', () => {
    const directory = temporaryDirectory()
    openStore(directory)[Symbol.dispose]()
    const file = join(directory, 'generation')
    for (const text of ['{', '{"commits":-1}']) {
      writeFileSync(file, text)
      expect(readGenerationRecord(file)).toBeNull()
    }
    using store = openStore(directory)
    expect(store.findChange()).toBeUndefined()
    expect(readFileSync(file, 'utf8')).toContain('"commits"')
  })
})

test('a reader finds nothing where no store exists', () => {
  expect(openStoreReader(temporaryDirectory())).toBeUndefined()
})

test('a reader sees new writes after it renews its view', () => {
  const directory = temporaryDirectory()
  using store = openStore(directory)
  using reader = openStoreReader(directory)
  reader?.renewView()
  expect(reader?.keyValues.get('a')).toBeUndefined()
  store.write(() => store.keyValues.set('a', '1'))
  expect(reader?.keyValues.get('a')).toBeUndefined()
  reader?.renewView()
  expect(reader?.keyValues.get('a')).toBe('1')
})

test('a count without a row is a fault', () => {
  expect(onlyRow({ n: 0 })).toEqual({ n: 0 })
  expect(() => onlyRow(undefined)).toThrow('has none')
})
