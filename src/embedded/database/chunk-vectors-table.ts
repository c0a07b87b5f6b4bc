import type { Database } from 'better-sqlite3'

/** Vectors of consecutive chunks of one resource. */
export interface ChunkVectors {
  readonly resourceId: number
  /** The last passage that they are of. */
  readonly lastOrdinal: number
  readonly dimensions: number
  readonly chunkCount: number
  /** As `packChunks` makes them. */
  readonly chunks: Buffer
}

const TO_EMBED = "is_embedded = 0 AND (status IS NULL OR status IN ('completed_with_warnings', 'partial'))"

/** The vectors, which are removed together with their resource, and the resources that still need some. */
export function chunkVectorsTable(database: Database) {
  const next = database
    .prepare<[], number>(
      `SELECT id FROM resource
       WHERE ${TO_EMBED} AND library_id NOT IN (SELECT id FROM library WHERE is_deleted = 1) ORDER BY id LIMIT 1`,
    )
    .pluck()
  // Each balanced search asks, so it counts in the index alone.
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
    /** The oldest resource whose chunks are not all embedded. */
    nextToEmbed: () => next.get(),
    countToEmbed: () => countToEmbed.get() ?? 0,
    countChunks: () => countChunks.get() ?? 0,
    isEmpty: () => exists.get() === 0,
    /** The last passage of a resource that has vectors, -1 without any. */
    lastOrdinal: (resourceId: number) => lastOrdinal.get(resourceId) ?? -1,
    /** The next passages of a resource. */
    ordinalsAfter: (resourceId: number, ordinal: number, count: number) =>
      ordinalsAfter.all(resourceId, ordinal, count),
    insert: (vectors: ChunkVectors) => {
      insert.run(vectors)
    },
    /** Records that all chunks of a resource are embedded. */
    finish: (resourceId: number) => {
      finish.run(resourceId)
    },
    /** Forgets the vectors of a resource whose passages are made anew. */
    removeOfResource: (resourceId: number) => {
      if (reopen.run(resourceId).changes > 0) remove.run(resourceId)
    },
    removeAll: () => {
      removeAll.run()
      reopenAll.run()
    },
  }
}
