import { join } from 'node:path'
import Database from 'better-sqlite3'

/** Tables and columns that tell of runs and of when something was looked at, not of the state of files. */
const PASSING: Readonly<Record<string, readonly string[]>> = {
  mirror: ['last_run_id'],
  content: ['run_id', 'ingestion_seen_at'],
  // A hash taken too soon after a change is taken again until it is old enough.
  file: ['is_racy'],
  problem: ['count'],
  // Made once all its files are old enough.
  directory: ['seal'],
}

/** Everything the store in a state directory knows, but for runs and the number of openings. */
export function dumpStore(stateDir: string): Record<string, unknown[]> {
  const database = new Database(join(stateDir, 'store.db'), { readonly: true })
  try {
    return dumpDatabase(database)
  } finally {
    database.close()
  }
}

/** The same of a database that is open. */
export function dumpDatabase(database: Database.Database): Record<string, unknown[]> {
  const tables = ['library', 'mirror', 'directory', 'content', 'file', 'former', 'upload', 'problem']
  return Object.fromEntries(tables.map((table) => [table, dumpTable(database, table)]))
}

function dumpTable(database: Database.Database, table: string): unknown[] {
  const rows = database.prepare<[], Record<string, unknown>>(`SELECT * FROM ${table}`).safeIntegers().all()
  const left = new Set(PASSING[table])
  return rows.map((row) => Object.fromEntries(Object.entries(row).filter(([column]) => !left.has(column))))
}
