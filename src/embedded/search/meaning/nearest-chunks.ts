import type { Database } from 'better-sqlite3'
import type { QueryMeaning } from '../../embedding/open-meaning.ts'
import { createComparison } from '../../embedding/packed-vectors.ts'

/** The chunk of a resource that is nearest to the query. */
export interface NearChunk {
  readonly resourceId: number
  readonly ordinal: number
  /** Where it begins in its passage. */
  readonly start: number
  readonly similarity: number
}

const MAX_RESOURCES = 100
const ALL = 'SELECT resource_id, chunks FROM chunk_vectors WHERE dimensions = ?'
const SOME = `SELECT resource_id, chunks FROM chunk_vectors JOIN resource ON resource.id = resource_id
  WHERE dimensions = ? AND library_id IN (SELECT value FROM json_each(?))`

/** Compares every chunk of these libraries (all when undefined); the resources with the nearest ones, the best first. */
export function nearestChunks(
  database: Database,
  { vector, minSimilarity }: QueryMeaning,
  libraryIds: readonly number[] | undefined,
): NearChunk[] {
  const statement = database.prepare<unknown[], [number, Buffer]>(libraryIds ? SOME : ALL).raw()
  const rows = libraryIds
    ? statement.iterate(vector.length, JSON.stringify(libraryIds))
    : statement.iterate(vector.length)
  const compare = createComparison(vector)
  const nearest = new Map<number, NearChunk>()
  for (const [resourceId, packed] of rows) {
    for (const chunk of compare(packed)) {
      if (chunk.similarity < minSimilarity) continue
      const best = nearest.get(resourceId)
      if (!best || chunk.similarity > best.similarity) nearest.set(resourceId, { resourceId, ...chunk })
    }
  }
  return [...nearest.values()]
    .sort((one, other) => other.similarity - one.similarity || one.resourceId - other.resourceId)
    .slice(0, MAX_RESOURCES)
}
