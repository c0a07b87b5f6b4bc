import type { Database } from 'better-sqlite3'

/** Single values that belong to the whole service. */
export interface Settings {
  read(name: string): string | undefined
  write(name: string, value: string): void
  remove(name: string): void
}

export function settingsTable(database: Database): Settings {
  const select = database.prepare<[string], { value: string }>('SELECT value FROM setting WHERE name = ?')
  const upsert = database.prepare<[string, string]>('INSERT OR REPLACE INTO setting (name, value) VALUES (?, ?)')
  const remove = database.prepare<[string]>('DELETE FROM setting WHERE name = ?')
  return {
    read: (name) => select.get(name)?.value,
    write: (name, value) => {
      upsert.run(name, value)
    },
    remove: (name) => {
      remove.run(name)
    },
  }
}
