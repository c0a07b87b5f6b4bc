import type Database from 'better-sqlite3'

export interface KeyValue {
  readonly key: string
  readonly value: string
}

export type KeyValueQueries = ReturnType<typeof prepareKeyValues>

/** Separates these keys from the store's own in `meta`. */
export const VALUE_PREFIX = 'value:'

/** Values that outlive a process, such as when a schedule is due, or whether a mirror is paused. */
export function prepareKeyValues(database: Database.Database) {
  const get = database.prepare<[string], { value: string }>('SELECT value FROM meta WHERE key = ?')
  const set = database.prepare<[string, string]>('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)')
  const remove = database.prepare<[string]>('DELETE FROM meta WHERE key = ?')
  const list = database.prepare<{ prefix: string; skipped: number }, KeyValue>(
    `SELECT substr(key, 1 + @skipped) AS key, value FROM meta
     WHERE substr(key, 1, length(@prefix)) = @prefix ORDER BY key`,
  )
  return {
    get: (key: string): string | undefined => get.get(VALUE_PREFIX + key)?.value,
    set: (key: string, value: string) => void set.run(VALUE_PREFIX + key, value),
    remove: (key: string) => void remove.run(VALUE_PREFIX + key),
    /** Ordered by key; `''` returns all. */
    list: (prefix: string): KeyValue[] => list.all({ prefix: VALUE_PREFIX + prefix, skipped: VALUE_PREFIX.length }),
  }
}
