import type { Database } from 'better-sqlite3'

/** What one transaction removed. */
export interface RemovedPiece {
  /** Hashes of the resources that were removed. */
  readonly contents: readonly Buffer[]
  readonly passageCount: number
}

/** How many passages or directories one piece removes at most: a transaction of a few milliseconds. */
const PIECE = 100

export type DeletedLibrariesTable = ReturnType<typeof deletedLibrariesTable>

/** Libraries that are deleted for everybody but still take room. */
export function deletedLibrariesTable(database: Database) {
  const next = database.prepare<[], number>('SELECT id FROM library WHERE is_deleted = 1 ORDER BY id LIMIT 1').pluck()
  const nextResource = database.prepare<[number], { id: number; sha256: Buffer }>(
    'SELECT id, sha256 FROM resource WHERE library_id = ? LIMIT 1',
  )
  const passages = database
    .prepare<[number, number], number>('SELECT id FROM passage WHERE resource_id = ? LIMIT ?')
    .pluck()
  const removeWords = database.prepare<[number]>('DELETE FROM passage_words WHERE rowid = ?')
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
  /** Returns how many it removed; fewer than `count` when no more are there. */
  const removePassages = (resourceId: number, count: number) => {
    const ids = passages.all(resourceId, count)
    for (const id of ids) {
      removeWords.run(id)
      removePassage.run(id)
    }
    return ids.length
  }
  return {
    /** The row id of one of them. */
    next: () => next.get(),
    /** Removes some of what belongs to the library. Call it in a transaction until nothing is left. */
    removePiece(libraryId: number): RemovedPiece {
      const contents: Buffer[] = []
      let passageCount = 0
      let left = PIECE
      while (left > 0) {
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
