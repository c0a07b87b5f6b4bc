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

/** The resources and passages that one transaction removed. */
interface RemovedPiece {
  /** Hashes of the resources that were removed. */
  readonly contents: readonly Buffer[]
  readonly passageCount: number
}

/** One piece removes at most this number of passages or directories. */
const PIECE = 100

/** Libraries that are deleted for everybody but still take room; a resource that is deleted alone gets one of its own. */
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
  // A directory is younger than its parent, so that none of these has children left.
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
  /** Returns how many it removed; fewer than `count` when no more are there. */
  const removePassages = (resourceId: number, count: number) => {
    const ids = passages.all(resourceId, count)
    for (const id of ids) {
      words.remove(id)
      removePassage.run(id)
    }
    return ids.length
  }
  return {
    /** The row id of one of them. */
    next: () => next.get(),
    /** Deletes a resource for everybody. Its bytes are erased at once where it shares a block with others. */
    takeIn(resourceId: number, nowMs: number): void {
      blocks.erase(resourceId)
      removeLocations.run(resourceId)
      const publicId = newIdentifier(nowMs)
      move.run(insertDeleted.run(publicId, publicId).lastInsertRowid, resourceId)
    },
    /**
     * Removes some of what belongs to the library, and no more once `isOver`. Call it in a transaction until nothing is left.
     * Most resources take microseconds, but one of some twenty makes SQLite merge the index of words, which takes up to 40 ms.
     */
    removePiece(libraryId: number, isOver: () => boolean): RemovedPiece {
      const contents: Buffer[] = []
      let passageCount = 0
      let left = PIECE
      while (left > 0 && !(left < PIECE && isOver())) {
        const resource = nextResource.get(libraryId)
        if (!resource) {
          left -= removeBlocks.run(libraryId, left).changes
          if (left > 0 && removeDirectories.run(libraryId, left).changes < left) removeLibrary.run(libraryId)
          break
        }
        const removed = removePassages(resource.id, left)
        if (removed < left) {
          removeResource.run(resource.id)
          contents.push(resource.sha256)
        }
        passageCount += removed
        left -= Math.max(1, removed)
      }
      return { contents, passageCount }
    },
  }
}
