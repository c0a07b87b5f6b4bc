import type { Database } from 'better-sqlite3'
import { newIdentifier } from '../identifiers.ts'
import { passageWordsTable } from './passages-table.ts'
import type { ContentBlocksTable } from './small-contents-table.ts'

export interface LibraryRow {
  readonly id: number
  readonly publicId: string
  readonly name: string
  readonly overview: string | null
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

type NewLibrary = Omit<LibraryRow, 'id' | 'updatedAtMs'>

const COLUMNS = `id, public_id AS publicId, name, overview, created_at_ms AS createdAtMs, updated_at_ms AS updatedAtMs`

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
  // Replaces the name, so that a new library can have it. Names of libraries that exist never begin with a blank.
  const remove = database.prepare<[number]>(
    "UPDATE library SET is_deleted = 1, name = ' ' || public_id WHERE id = ? AND is_deleted = 0",
  )
  return {
    byPublicId: (publicId: string) => byPublicId.get(publicId),
    byId: (id: number) => byId.get(id),
    byName: (name: string) => byName.get(name),
    all: () => all.all(),
    /** Returns up to `count` libraries after this row id, in the order of their creation. */
    after: (id: number, count: number) => after.all(id, count),
    insert: (library: NewLibrary) => Number(insert.run(library).lastInsertRowid),
    /** Marks the library as deleted; `deletedLibraries` removes its data later. Returns false if there is no such library. */
    remove: (id: number) => remove.run(id).changes > 0,
  }
}

/** The greatest number of passages or directories that `removePiece` removes. */
const MAX_REMOVED = 100

/** The queries of libraries that are deleted but still take disk space. A deleted resource is moved to such a library. */
export function deletedLibrariesTable(database: Database, blocks: Pick<ContentBlocksTable, 'erase'>) {
  const next = database.prepare<[], number>('SELECT id FROM library WHERE is_deleted = 1 ORDER BY id LIMIT 1').pluck()
  const nextResource = database.prepare<[number], { id: number; sha256: Buffer }>(
    'SELECT id, sha256 FROM resource WHERE library_id = ? LIMIT 1',
  )
  const passages = database
    .prepare<[number, number], number>('SELECT id FROM passage WHERE resource_id = ? LIMIT ?')
    .pluck()
  const words = passageWordsTable(database)
  const removePassage = database.prepare<[number]>('DELETE FROM passage WHERE id = ?')
  const removeResource = database.prepare<[number]>('DELETE FROM resource WHERE id = ?')
  // A directory has a greater id than its parent, so its children are removed before it.
  const removeDirectories = database.prepare<[number, number]>(
    `DELETE FROM directory WHERE id IN (SELECT id FROM directory WHERE library_id = ? ORDER BY id DESC LIMIT ?)`,
  )
  const removeBlocks = database.prepare<[number, number]>(
    'DELETE FROM content_block WHERE id IN (SELECT id FROM content_block WHERE library_id = ? LIMIT ?)',
  )
  const removeLibrary = database.prepare<[number]>('DELETE FROM library WHERE id = ?')
  const insertDeleted = database.prepare<[string, string]>(
    `INSERT INTO library (public_id, name, created_at_ms, updated_at_ms, is_deleted) VALUES (?, ' ' || ?, 0, 0, 1)`,
  )
  const removeLocations = database.prepare<[number]>('DELETE FROM location WHERE resource_id = ?')
  const move = database.prepare<[number | bigint, number]>(
    'UPDATE resource SET library_id = ?, block_id = NULL, block_start = NULL WHERE id = ?',
  )
  /** Returns how many passages it removed; fewer than `count` if it removed all of them. */
  const removePassages = (resourceId: number, count: number) => {
    const ids = passages.all(resourceId, count)
    for (const id of ids) {
      words.remove(id)
      removePassage.run(id)
    }
    return ids.length
  }
  return {
    /** Returns the row id of a deleted library. */
    next: () => next.get(),
    /** Deletes a resource: moves it to a deleted library of its own. If its content shares a block, its bytes are erased at once. */
    deleteResource(resourceId: number, nowMs: number): void {
      blocks.erase(resourceId)
      removeLocations.run(resourceId)
      const publicId = newIdentifier(nowMs)
      move.run(insertDeleted.run(publicId, publicId).lastInsertRowid, resourceId)
    },
    /**
     * Removes a part of the library's data, until `isOver` returns true. Call it in transactions until `next` returns another library. Most
     * resources take microseconds, but for about one in twenty SQLite merges the index of words, which takes up to 40 ms. Returns the
     * hashes of the removed resources, and the number of removed passages.
     */
    removePiece(libraryId: number, isOver: () => boolean) {
      const contents: Buffer[] = []
      let passageCount = 0
      let budget = MAX_REMOVED
      while (budget > 0 && !(budget < MAX_REMOVED && isOver())) {
        const resource = nextResource.get(libraryId)
        if (!resource) {
          budget -= removeBlocks.run(libraryId, budget).changes
          if (budget > 0 && removeDirectories.run(libraryId, budget).changes < budget) removeLibrary.run(libraryId)
          break
        }
        const removed = removePassages(resource.id, budget)
        if (removed < budget) {
          removeResource.run(resource.id)
          contents.push(resource.sha256)
        }
        passageCount += removed
        budget -= Math.max(1, removed)
      }
      return { contents, passageCount }
    },
  }
}
