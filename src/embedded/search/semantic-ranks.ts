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
const ALL = 'SELECT resource_id, chunks FROM chunk_vectors WHERE dimensions = ?'
const SOME = `SELECT resource_id, chunks FROM chunk_vectors JOIN resource ON resource.id = resource_id
  WHERE dimensions = ? AND library_id IN (SELECT value FROM json_each(?))`

/** Compares every chunk of these libraries (all when undefined); the resources with the nearest ones, the best first. */
export function nearestChunks(
  database: Database,
  { vector, minSimilarity }: QueryVector,
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

/** A resource that was found by its terms, by its meaning, or by both. */
export interface FusedResource {
  readonly resourceId: number
  /** Its passages that have terms, the best first. */
  readonly ordinals: readonly number[]
  /** Undefined unless its meaning ranks it higher than its terms. */
  readonly chunk: NearChunk | undefined
}

/** Reciprocal rank fusion: a rank counts 1 / (K + rank). Chosen with the weight by `npm run search-quality`. */
const K = 10
const SEMANTIC_WEIGHT = 2

/** Merges what was found by terms and by meaning, each the best first, into one ranking. */
export function fuseRanks(byTerms: readonly FoundResource[], bySemantics: readonly NearChunk[]): FusedResource[] {
  const fused = new Map<number, FusedResource & { readonly score: number }>()
  for (const [rank, { resourceId, ordinals }] of byTerms.entries()) {
    fused.set(resourceId, { resourceId, ordinals, chunk: undefined, score: 1 / (K + rank + 1) })
  }
  for (const [rank, chunk] of bySemantics.entries()) {
    const { resourceId } = chunk
    const known = fused.get(resourceId)
    const score = SEMANTIC_WEIGHT / (K + rank + 1)
    const isNearer = !known || score > known.score
    fused.set(resourceId, {
      resourceId,
      ordinals: known?.ordinals ?? [],
      chunk: isNearer ? chunk : undefined,
      score: score + (known?.score ?? 0),
    })
  }
  return [...fused.values()].sort((one, other) => other.score - one.score || one.resourceId - other.resourceId)
}
