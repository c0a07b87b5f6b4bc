import type { Database } from 'better-sqlite3'

/** Single values that belong to the whole service. */
export interface Settings {
  read(name: string): string | undefined
  write(name: string, value: string): void
}

export function settingsTable(database: Database): Settings {
  const select = database.prepare<[string], { value: string }>('SELECT value FROM setting WHERE name = ?')
  const upsert = database.prepare<[string, string]>('INSERT OR REPLACE INTO setting (name, value) VALUES (?, ?)')
  return {
    read: (name) => select.get(name)?.value,
    write: (name, value) => {
      upsert.run(name, value)
    },
  }
}
