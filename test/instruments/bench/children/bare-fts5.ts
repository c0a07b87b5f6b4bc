/** The bare work of a text library: reads each file, stores and indexes it by SQLite's FTS5. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { printMeasure } from './bench-engine.ts'

interface BareInput {
  readonly tree: string
  readonly databaseFile: string
}

const FILES_A_COMMIT = 64

const input: BareInput = JSON.parse(process.argv[2] ?? '{}')
await printMeasure(async () => {
  const database = new Database(input.databaseFile)
  for (const pragma of ['journal_mode = WAL', 'synchronous = FULL']) database.pragma(pragma)
  database.exec("CREATE VIRTUAL TABLE document USING fts5 (name, text, tokenize = 'porter unicode61')")
  const insert = database.prepare<[string, string]>('INSERT INTO document (name, text) VALUES (?, ?)')
  const files = readdirSync(input.tree, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.txt'))
  const insertAll = database.transaction((names: readonly string[]) => {
    for (const name of names) insert.run(name, readFileSync(join(input.tree, name), 'utf8'))
  })
  for (let at = 0; at < files.length; at += FILES_A_COMMIT) insertAll(files.slice(at, at + FILES_A_COMMIT))
  database.close()
  return files.length
})
