import { join } from 'node:path'
import Database from 'better-sqlite3'

/** Tables and columns on runs and on times of looks, not on the state of files. */
const PASSING: Readonly<Record<string, readonly string[]>> = {
  mirror: ['last_run_id'],
  content: ['run_id', 'ingestion_seen_at'],
  // A hash taken too soon after a change is taken again until it is old enough.
  file: ['is_racy'],
  problem: ['count'],
  // Computed once all its files are old enough.
  directory: ['digest'],
}

/** Everything the store in a state directory knows, but for runs and the number of openings. */
export function dumpStore(stateDir: string): Record<string, unknown[]> {
  const database = new Database(join(stateDir, 'store.db'), { readonly: true })
  try {
    return prepareDump(database)()
  } finally {
    database.close()
  }
}

/** The same of a database that is open, as often as it is called. */
export function prepareDump(database: Database.Database): () => Record<string, unknown[]> {
  const tables = ['library', 'mirror', 'directory', 'content', 'file', 'history', 'upload', 'problem']
  const statements = tables.map((table) => {
    const columns = database
      .prepare<[string], { name: string }>('SELECT name FROM pragma_table_info(?)')
      .all(table)
      .filter(({ name }) => !PASSING[table]?.includes(name))
      .map(({ name }) => name)
    const rows = database.prepare<[], Record<string, unknown>>(`SELECT ${columns.join(', ')} FROM ${table}`)
    return [table, rows.safeIntegers()] as const
  })
  return () => Object.fromEntries(statements.map(([table, rows]) => [table, rows.all()]))
}
