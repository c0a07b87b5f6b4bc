import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { openDatabase, openDatabaseReadOnly } from '../../../src/foundation/sqlite/open-database.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

const FIRST = 'CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL);'
/** Changes the schema, every row and the number of pages, in several statements. */
const LATER = `
  ALTER TABLE note ADD COLUMN size INTEGER NOT NULL DEFAULT 0;
  UPDATE note SET size = length(text), text = text || ' (seen)';
  CREATE TABLE tag (note_id INTEGER NOT NULL REFERENCES note (id), name TEXT NOT NULL);
  INSERT INTO tag SELECT id, text FROM note;
  CREATE INDEX tag_name ON tag (name);`
const WAL_HEADER_BYTES = 32
const FRAME_BYTES = 24 + 4_096

/** A database of the first schema with so many rows, and the specification by which the next version opens it. */
function olderDatabase(rows: number, text = 'pelican') {
  const directory = temporaryDirectory()
  const place = { file: join(directory, 'store.db'), applicationId: 7 }
  const [old, later] = ['old', 'later'].map((name) => join(directory, name))
  if (old === undefined || later === undefined) throw new Error('No directories')
  for (const migrations of [old, later]) {
    mkdirSync(migrations)
    writeFileSync(join(migrations, '001-first.sql'), FIRST)
  }
  writeFileSync(join(later, '002-later.sql'), LATER)
  const database = openDatabase({ ...place, migrationsDir: old })
  const insert = database.prepare('INSERT INTO note (text) VALUES (?)')
  database.transaction(() => {
    for (let row = 0; row < rows; row += 1) insert.run(text)
  })()
  database.close()
  return { ...place, directory, migrationsDir: later }
}

/** The version of the schema that a reader of the file sees, and whether the file is whole. */
function look(file: string, rows: number) {
  const database = new Database(file)
  try {
    const version = database.pragma('user_version', { simple: true })
    const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1").pluck().all()
    const seen = version === 2 ? "WHERE text LIKE '% (seen)' AND size > 0" : "WHERE text NOT LIKE '% (seen)'"
    const rowCount = database.prepare(`SELECT count(*) FROM note ${seen}`).pluck().get()
    const isWhole = database.pragma('integrity_check', { simple: true }) === 'ok' && rowCount === rows
    return { version, tables, isWhole }
  } finally {
    database.close()
  }
}

/** Makes the table anew that another one refers to. */
const ANEW = `
  CREATE TABLE new_note (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
  INSERT INTO new_note SELECT id, text FROM note;
  DROP TABLE note;
  ALTER TABLE new_note RENAME TO note;`

describe('a migration', () => {
  test('a table made anew keeps the rows that refer to it', () => {
    const spec = olderDatabase(2)
    writeFileSync(
      join(spec.migrationsDir, '003-more.sql'),
      'CREATE TABLE mark (note_id REFERENCES note (id) ON DELETE CASCADE); INSERT INTO mark SELECT id FROM note;',
    )
    openDatabase(spec).close()
    writeFileSync(join(spec.migrationsDir, '004-anew.sql'), ANEW)
    const database = openDatabase(spec)
    const countMarks = () => database.prepare('SELECT count(*) FROM mark').pluck().get()
    expect(countMarks()).toBe(2)
    database.exec('DELETE FROM tag; DELETE FROM note WHERE id = 1')
    expect(countMarks()).toBe(1)
    database.close()
  })

  test('a migration cut off anywhere is whole or has not begun [P23, F-PR-07]', () => {
    const rows = 200
    const spec = olderDatabase(rows)
    const migrated = openDatabase(spec)
    const image = readFileSync(spec.file)
    const log = readFileSync(`${spec.file}-wal`)
    migrated.close()
    const frames = (log.length - WAL_HEADER_BYTES) / FRAME_BYTES
    expect(frames).toBeGreaterThan(6)
    const ends = Array.from({ length: frames + 1 }, (_, frame) => WAL_HEADER_BYTES + frame * FRAME_BYTES)
    const versions = new Set<unknown>()
    for (const end of [0, ...ends.flatMap((at) => [at - 1, at, at + 1_000])].filter((at) => at <= log.length)) {
      const copy = join(temporaryDirectory(), 'store.db')
      writeFileSync(copy, image)
      writeFileSync(`${copy}-wal`, log.subarray(0, end))
      const { version, tables, isWhole } = look(copy, rows)
      expect({ end, version, tables, isWhole }).toEqual({
        end,
        version,
        tables: version === 2 ? ['note', 'tag'] : ['note'],
        isWhole: true,
      })
      versions.add(version)
      openDatabase({ ...spec, file: copy }).close()
      expect(look(copy, rows)).toMatchObject({ version: 2, isWhole: true })
    }
    expect([...versions]).toEqual([1, 2])
  })

  test('a migration killed during its backup leaves no half backup [P23, F-PR-07]', async () => {
    const rows = 3_000
    const spec = olderDatabase(rows, 'pelican '.repeat(500))
    const backup = `${spec.file}.v1.bak`
    const module = new URL('../../../src/foundation/sqlite/open-database.ts', import.meta.url).href
    const program = `const { openDatabase } = await import(process.argv[1]); openDatabase(JSON.parse(process.argv[2]))`
    const child = spawn(process.execPath, ['--input-type=module', '-e', program, module, JSON.stringify(spec)])
    const ended = once(child, 'exit')
    const isOver = ended.then(() => true)
    const atFirst = readdirSync(spec.directory).length
    const sizeOf = (name: string) => statSync(join(spec.directory, name), { throwIfNoEntry: false })?.size ?? 0
    const hasBegun = () => readdirSync(spec.directory).some((name) => name.includes('.bak') && sizeOf(name) > 0)
    const nextTurn = () => new Promise<false>((resolve) => setImmediate(() => resolve(false)))
    // The process may end before the loop sees the backup begin: then the backup is whole.
    while (!hasBegun() && !(await Promise.race([isOver, nextTurn()])));
    child.kill('SIGKILL')
    await ended
    expect(readdirSync(spec.directory).length).toBeGreaterThan(atFirst)
    openDatabase(spec).close()
    expect(existsSync(backup)).toBe(true)
    expect(look(backup, rows)).toEqual({ version: 1, tables: ['note'], isWhole: true })
    expect(look(spec.file, rows)).toMatchObject({ version: 2, isWhole: true })
    expect(readdirSync(spec.directory).filter((name) => name.includes('.bak'))).toEqual(['store.db.v1.bak'])
  })
})

test('a connection waits for the disk after its first write too [P1]', () => {
  const spec = olderDatabase(1)
  const database = openDatabase(spec)
  database.prepare("INSERT INTO note (text) VALUES ('second')").run()
  expect(database.pragma('synchronous', { simple: true })).toBe(2)
  expect(database.pragma('journal_mode', { simple: true })).toBe('wal')
  database.close()
})

test('a connection that reads or writes trusts no schema [S-10]', () => {
  const spec = olderDatabase(1)
  openDatabase(spec).close()
  for (const open of [openDatabase, openDatabaseReadOnly]) {
    const database = open(spec)
    expect(database.pragma('trusted_schema', { simple: true })).toBe(0)
    database.close()
  }
})
