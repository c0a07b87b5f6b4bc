import type { Database } from 'better-sqlite3'

export interface LibraryRow {
  readonly id: number
  readonly publicId: string
  readonly name: string
  readonly overview: string | null
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

export type NewLibrary = Omit<LibraryRow, 'id' | 'updatedAtMs'>

const COLUMNS = `id, public_id AS publicId, name, overview, created_at_ms AS createdAtMs, updated_at_ms AS updatedAtMs`

export type LibrariesTable = ReturnType<typeof librariesTable>

export function librariesTable(database: Database) {
  const byPublicId = database.prepare<[string], LibraryRow>(
    `SELECT ${COLUMNS} FROM library WHERE public_id = ? AND is_deleted = 0`,
  )
  const byId = database.prepare<[number], LibraryRow>(`SELECT ${COLUMNS} FROM library WHERE id = ? AND is_deleted = 0`)
  const byName = database.prepare<[string], LibraryRow>(
    `SELECT ${COLUMNS} FROM library WHERE name = ? AND is_deleted = 0`,
  )
  const all = database.prepare<[], LibraryRow>(`SELECT ${COLUMNS} FROM library WHERE is_deleted = 0 ORDER BY id`)
  const after = database.prepare<[number, number], LibraryRow>(
    `SELECT ${COLUMNS} FROM library WHERE id > ? AND is_deleted = 0 ORDER BY id LIMIT ?`,
  )
  const insert = database.prepare<NewLibrary>(
    `INSERT INTO library (public_id, name, overview, created_at_ms, updated_at_ms)
     VALUES (@publicId, @name, @overview, @createdAtMs, @createdAtMs)`,
  )
  // The name is free again; no new one begins with a blank.
  const remove = database.prepare<[number]>(
    "UPDATE library SET is_deleted = 1, name = ' ' || public_id WHERE id = ? AND is_deleted = 0",
  )
  return {
    byPublicId: (publicId: string) => byPublicId.get(publicId),
    byId: (id: number) => byId.get(id),
    byName: (name: string) => byName.get(name),
    all: () => all.all(),
    /** Up to `count` libraries in the order of their creation, after the one with this row id. */
    after: (id: number, count: number) => after.all(id, count),
    insert: (library: NewLibrary) => Number(insert.run(library).lastInsertRowid),
    /** Hides the library from all but `deletedLibraries`, which removes what belongs to it; false when it is gone. */
    remove: (id: number) => remove.run(id).changes > 0,
  }
}
