import type { Database } from 'better-sqlite3'

export type Settings = ReturnType<typeof settingsTable>

/** Single values that belong to the whole service. */
export function settingsTable(database: Database) {
  const select = database.prepare<[string], { value: string }>('SELECT value FROM setting WHERE name = ?')
  const upsert = database.prepare<[string, string]>('INSERT OR REPLACE INTO setting (name, value) VALUES (?, ?)')
  return {
    read: (name: string) => select.get(name)?.value,
    write: (name: string, value: string) => {
      upsert.run(name, value)
    },
  }
}
