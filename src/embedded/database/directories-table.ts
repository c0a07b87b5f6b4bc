import type { Database } from 'better-sqlite3'
import { nameOfLibraryPath } from '../../contract/library-path.ts'
import { INBOX_PATH } from '../../contract/routes.ts'

export interface DirectoryRow {
  readonly id: number
  readonly libraryId: number
  readonly parentId: number | null
  readonly path: string
  readonly name: string
}

export type NewDirectory = Omit<DirectoryRow, 'id'>

export function directoriesTable(database: Database) {
  const byPath = database.prepare<[number, string], DirectoryRow>(
    'SELECT id, library_id AS libraryId, parent_id AS parentId, path, name FROM directory WHERE library_id = ? AND path = ?',
  )
  const names = database
    .prepare<[number, string, number], string>(
      'SELECT name FROM directory WHERE parent_id = ? AND name > ? ORDER BY name LIMIT ?',
    )
    .pluck()
  const insert = database.prepare<NewDirectory>(
    'INSERT INTO directory (library_id, parent_id, path, name) VALUES (@libraryId, @parentId, @path, @name)',
  )
  const add = (directory: NewDirectory) => Number(insert.run(directory).lastInsertRowid)
  return {
    byPath: (libraryId: number, path: string) => byPath.get(libraryId, path),
    /** Returns up to `count` names of child directories after `name`, in code point order. */
    namesAfter: (parentId: number, name: string, count: number) => names.all(parentId, name, count),
    insert: add,
    /** Inserts the root and the inbox of a new library. */
    insertRoot(libraryId: number): void {
      const parentId = add({ libraryId, parentId: null, path: '/', name: '' })
      add({ libraryId, parentId, path: INBOX_PATH, name: nameOfLibraryPath(INBOX_PATH) })
    },
  }
}
