import type { Database } from 'better-sqlite3'
import { createComparison } from '../embedding/packed-vectors.ts'
import type { QueryVector } from '../embedding/semantics.ts'
import type { FoundResource } from './find-resources.ts'

/** The chunk of a resource that is nearest to the query. */
interface NearChunk {
  readonly resourceId: number
  readonly ordinal: number
  /** Its offset in its passage. */
  readonly start: number
  readonly similarity: number
}

const MAX_RESOURCES = 100
const USUAL_CHUNKS = 20
const ALL = 'SELECT resource_id, chunks FROM chunk_vectors WHERE dimensions = ?'
const SOME = `SELECT resource_id, chunks FROM chunk_vectors JOIN resource ON resource.id = resource_id
  WHERE dimensions = ? AND library_id IN (SELECT value FROM json_each(?))`

/** What the chunks of resources say about a query. */
interface ComparedChunks {
  /** The resources with the nearest chunks, the best first. */
  readonly nearest: readonly NearChunk[]
  /** The resources that have chunks at all. */
  readonly embedded: ReadonlySet<number>
  /** The similarity of a chunk on average, which depends on the model. */
  readonly mean: number
}

/** Compares every chunk of these libraries (all when undefined). */
export function compareChunks(
  database: Database,
  { vector, minSimilarity }: QueryVector,
  libraryIds: readonly number[] | undefined,
): ComparedChunks {
  const statement = database.prepare<unknown[], [number, Buffer]>(libraryIds ? SOME : ALL).raw()
  const rows = libraryIds
    ? statement.iterate(vector.length, JSON.stringify(libraryIds))
    : statement.iterate(vector.length)
  const compare = createComparison(vector)
  const embedded = new Set<number>()
  const near = new Map<number, NearChunk>()
  // A few chunks say little about the mean.
  let [sum, count] = [USUAL_CHUNKS * minSimilarity, USUAL_CHUNKS]
  for (const [resourceId, packed] of rows) {
    embedded.add(resourceId)
    for (const chunk of compare(packed)) {
      sum += chunk.similarity
      count += 1
      if (chunk.similarity < minSimilarity) continue
      const best = near.get(resourceId)
      if (!best || chunk.similarity > best.similarity) near.set(resourceId, { resourceId, ...chunk })
    }
  }
  const nearest = [...near.values()]
    .sort((one, other) => other.similarity - one.similarity || one.resourceId - other.resourceId)
    .slice(0, MAX_RESOURCES)
  return { nearest, embedded, mean: sum / count }
}

/** A resource that was found by its terms, by its meaning, or by both. */
export interface FusedResource {
  readonly resourceId: number
  /** Its passages that have terms, the best first. */
  readonly ordinals: readonly number[]
  /** Its nearest chunk, where its meaning ranks it higher than its terms. */
  readonly chunk?: NearChunk | undefined
}

/** What a meaning as near as can be adds to a score by terms, of which 1 is a passage that has each term once. */
const WEIGHT = 2
/** So much nearer than the mean, as a share of what is left to 1, must a chunk be: others have nothing to do with the query. */
const NOISE = 0.2
/** The first resource by its terms stays among this number, if one of its passages has them all. */
const FIRST = 3
/** The resources without chunks get as much for their meaning as so many of the first by terms have on average. */
const COMPARED = 20

/**
 * Merges what was found by terms and by meaning into one ranking. Resources without chunks get what others get on average, so that the
 * ranking does not favour what is embedded already.
 */
export function fuseRanks(
  byTerms: readonly FoundResource[],
  { nearest, embedded, mean }: ComparedChunks,
): FusedResource[] {
  const chunks = new Map(nearest.map((chunk) => [chunk.resourceId, chunk]))
  const nearness = (resourceId: number) => {
    const similarity = chunks.get(resourceId)?.similarity ?? mean
    return WEIGHT * Math.max(0, (similarity - mean) / (1 - mean) - NOISE)
  }
  const first = byTerms.slice(0, COMPARED).filter(({ resourceId }) => embedded.has(resourceId))
  const usual = first.reduce((sum, { resourceId }) => sum + nearness(resourceId), 0) / Math.max(1, first.length)
  const scored = byTerms.map(({ resourceId, ordinals, score }) => {
    const near = embedded.has(resourceId) ? nearness(resourceId) : usual
    const chunk = near > score ? chunks.get(resourceId) : undefined
    chunks.delete(resourceId)
    return { resourceId, ordinals, chunk, score: score + near }
  })
  for (const [resourceId, chunk] of chunks)
    scored.push({ resourceId, ordinals: [], chunk, score: nearness(resourceId) })
  scored.sort((one, other) => other.score - one.score)
  const place = scored.findIndex(({ resourceId }) => byTerms[0]?.isWhole && resourceId === byTerms[0].resourceId)
  if (place >= FIRST) scored.splice(FIRST - 1, 0, ...scored.splice(place, 1))
  return scored
}
