/** What keeps the store from its disk, in words that say what to do. */
import { openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { explainFaults } from '../../../src/store/integrity/explain-faults.ts'
import { GenerationFile, placeOf, readGenerationRecord } from '../../../src/store/integrity/generation.ts'
import { openStore, openStoreReader } from '../../../src/store/open-store.ts'
import { onlyRow } from '../../../src/store/sql/only-row.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

function databaseIn(directory: string, options?: Database.Options): Database.Database {
  const database = new Database(join(directory, 'some.db'), options)
  onTestFinished(() => void database.close())
  return database
}

/** Fills a database that may have no further pages: what SQLite throws on a full disk. */
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
  test('is told from a disk that is full', () => {
    const directory = temporaryDirectory()
    expect(() => explainFaults(directory, () => overfill(directory))).toThrow(
      expect.objectContaining({ code: 'disk-full', message: expect.stringContaining(directory) }),
    )
  })

  test('for want of a file is the fault of a disk without room', () => {
    const missing = () => openSync(join(temporaryDirectory(), 'missing'), 'r')
    // This file system never has room.
    expect(() => explainFaults('/proc', missing)).toThrow(expect.objectContaining({ code: 'disk-full' }))
    expect(() => explainFaults(temporaryDirectory(), missing)).toThrow(
      expect.objectContaining({ code: 'store-unusable' }),
    )
    const gone = join(temporaryDirectory(), 'gone')
    expect(() => explainFaults(gone, missing)).toThrow(expect.objectContaining({ code: 'store-unusable' }))
  })

  test('since nobody may write there is not damaged', () => {
    const directory = temporaryDirectory()
    const work = () => writeReadOnly(directory)
    expect(() => explainFaults(join(directory, 'gone'), work)).toThrow(
      expect.objectContaining({ code: 'store-unusable' }),
    )
  })

  test('passes on what is no fault of a store', () => {
    const bug = new TypeError('a bug')
    const work = () => {
      throw bug
    }
    expect(() => explainFaults(temporaryDirectory(), work)).toThrow(bug)
  })
})

describe('the note beside a store', () => {
  test('that cannot be written leaves it open, not lost', () => {
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

  test('hides no bug of the program', () => {
    const store = openStore(temporaryDirectory())
    const spy = vi.spyOn(GenerationFile.prototype, 'writeDurably').mockImplementation(() => {
      throw new TypeError('a bug')
    })
    onTestFinished(() => spy.mockRestore())
    expect(() => store[Symbol.dispose]()).toThrow('a bug')
  })

  test('follows its file through a checkpoint', () => {
    const directory = temporaryDirectory()
    using store = openStore(directory)
    const before = placeOf(join(directory, 'store.db'))
    // More than the log may hold: the pages go to the file itself, without a durable commit.
    store.writeRelaxed(() => store.keyValues.set('much', 'x'.repeat(20 * 2 ** 20)))
    const after = placeOf(join(directory, 'store.db'))
    expect(after).not.toEqual(before)
    expect(readGenerationRecord(join(directory, 'generation'))?.place).toEqual(after)
  })

  test('that is no note counts as none', () => {
    const directory = temporaryDirectory()
    openStore(directory)[Symbol.dispose]()
    const file = join(directory, 'generation')
    for (const text of ['{', '{"commits":-1}']) {
      writeFileSync(file, text)
      expect(readGenerationRecord(file)).toBeNull()
    }
    using store = openStore(directory)
    expect(store.isInPlace()).toBe(true)
    expect(readFileSync(file, 'utf8')).toContain('"commits"')
  })
})

describe('a reader', () => {
  test('has nothing to read where no store was made', () => {
    expect(openStoreReader(temporaryDirectory())).toBeUndefined()
  })

  test('sees what was written when it looks anew', () => {
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
})

test('a count that finds no row is a fault', () => {
  expect(onlyRow({ n: 0 })).toEqual({ n: 0 })
  expect(() => onlyRow(undefined)).toThrow('has none')
})
