import type { Database } from 'better-sqlite3'

/** A row with the vectors of consecutive chunks of one resource. */
export interface ChunkVectors {
  readonly resourceId: number
  /** The ordinal of the passage that the last chunk is of. */
  readonly lastOrdinal: number
  readonly dimensions: number
  readonly chunkCount: number
  /** The chunks as `packChunks` packs them. */
  readonly chunks: Buffer
}

const TO_EMBED = "is_embedded = 0 AND (status IS NULL OR status IN ('completed_with_warnings', 'partial'))"

/** The queries of vectors, and of resources that still need some. SQLite removes the vectors together with their resource. */
export function chunkVectorsTable(database: Database) {
  const next = database
    .prepare<[], number>(
      `SELECT id FROM resource
       WHERE ${TO_EMBED} AND library_id NOT IN (SELECT id FROM library WHERE is_deleted = 1) ORDER BY id LIMIT 1`,
    )
    .pluck()
  // Each balanced search needs this number, so the query uses nothing but an index.
  const countToEmbed = database
    .prepare<[], number>(
      `SELECT (SELECT count(*) FROM resource WHERE ${TO_EMBED}) -
         (SELECT count(*) FROM library CROSS JOIN resource ON library_id = library.id WHERE is_deleted = 1 AND ${TO_EMBED})`,
    )
    .pluck()
  const countChunks = database.prepare<[], number>('SELECT coalesce(sum(chunk_count), 0) FROM chunk_vectors').pluck()
  const exists = database.prepare<[], number>('SELECT EXISTS (SELECT 1 FROM chunk_vectors)').pluck()
  const lastOrdinal = database
    .prepare<[number], number>('SELECT coalesce(max(last_ordinal), -1) FROM chunk_vectors WHERE resource_id = ?')
    .pluck()
  const ordinalsAfter = database
    .prepare<[number, number, number], number>(
      'SELECT ordinal FROM passage WHERE resource_id = ? AND ordinal > ? ORDER BY ordinal LIMIT ?',
    )
    .pluck()
  const insert = database.prepare<ChunkVectors>(
    `INSERT INTO chunk_vectors (resource_id, last_ordinal, dimensions, chunk_count, chunks)
     VALUES (@resourceId, @lastOrdinal, @dimensions, @chunkCount, @chunks)`,
  )
  const finish = database.prepare<[number]>('UPDATE resource SET is_embedded = 1 WHERE id = ?')
  const remove = database.prepare<[number]>('DELETE FROM chunk_vectors WHERE resource_id = ?')
  const reopen = database.prepare<[number]>('UPDATE resource SET is_embedded = 0 WHERE id = ? AND is_embedded = 1')
  const removeAll = database.prepare<[]>('DELETE FROM chunk_vectors')
  const reopenAll = database.prepare<[]>('UPDATE resource SET is_embedded = 0 WHERE is_embedded = 1')
  return {
    /** Returns the oldest resource whose chunks are not all embedded. */
    nextToEmbed: () => next.get(),
    countToEmbed: () => countToEmbed.get() ?? 0,
    countChunks: () => countChunks.get() ?? 0,
    isEmpty: () => exists.get() === 0,
    /** Returns the ordinal of the last passage of a resource that has vectors, -1 if none has. */
    lastOrdinal: (resourceId: number) => lastOrdinal.get(resourceId) ?? -1,
    /** Returns the ordinals of up to `count` passages of a resource after `ordinal`. */
    ordinalsAfter: (resourceId: number, ordinal: number, count: number) =>
      ordinalsAfter.all(resourceId, ordinal, count),
    insert: (vectors: ChunkVectors) => {
      insert.run(vectors)
    },
    /** Records that all chunks of a resource are embedded. */
    finish: (resourceId: number) => {
      finish.run(resourceId)
    },
    /** Removes the vectors of a resource, so that it is embedded again. Call it when its passages are replaced. */
    removeOfResource: (resourceId: number) => {
      if (reopen.run(resourceId).changes > 0) remove.run(resourceId)
    },
    removeAll: () => {
      removeAll.run()
      reopenAll.run()
    },
  }
}
