import type { Database } from 'better-sqlite3'
import type { QueryMeaning } from '../../embedding/open-meaning.ts'
import { createComparison } from '../../embedding/window-vectors.ts'

/** The window of a resource that is nearest to the query. */
export interface NearWindow {
  readonly resourceId: number
  readonly ordinal: number
  /** Where it begins in its passage. */
  readonly start: number
  readonly similarity: number
}

const MAX_RESOURCES = 100
const ALL = 'SELECT resource_id, windows FROM window_vectors WHERE dimensions = ?'
const SOME = `SELECT resource_id, windows FROM window_vectors JOIN resource ON resource.id = resource_id
  WHERE dimensions = ? AND library_id IN (SELECT value FROM json_each(?))`

/** Compares every window of these libraries (all when undefined); the resources with the nearest ones, the best first. */
export function nearestWindows(
  database: Database,
  { vector, minSimilarity }: QueryMeaning,
  libraryIds: readonly number[] | undefined,
): NearWindow[] {
  const statement = database.prepare<unknown[], [number, Buffer]>(libraryIds ? SOME : ALL).raw()
  const rows = libraryIds
    ? statement.iterate(vector.length, JSON.stringify(libraryIds))
    : statement.iterate(vector.length)
  const compare = createComparison(vector)
  const nearest = new Map<number, NearWindow>()
  for (const [resourceId, packed] of rows) {
    for (const window of compare(packed)) {
      if (window.similarity < minSimilarity) continue
      const best = nearest.get(resourceId)
      if (!best || window.similarity > best.similarity) nearest.set(resourceId, { resourceId, ...window })
    }
  }
  return [...nearest.values()]
    .sort((one, other) => other.similarity - one.similarity || one.resourceId - other.resourceId)
    .slice(0, MAX_RESOURCES)
}
