import type { Database } from 'better-sqlite3'
import { type ComparedChunk, createComparison } from '../embedding/chunks.ts'
import type { QueryVector } from '../embedding/semantics.ts'
import type { FoundResource } from './rank-by-words.ts'

/** The chunk of a resource that is nearest to the query. */
export interface NearChunk {
  readonly resourceId: number
  readonly ordinal: number
  /** The offset of the chunk in its passage, in characters. */
  readonly start: number
  /** How near the resource is to the query in meaning: from 0, like an average chunk, to about 1.5. */
  readonly nearness: number
}

const MAX_RESOURCES = 300
const USUAL_CHUNKS = 20
const ALL = 'SELECT resource_id, chunks FROM chunk_vectors WHERE dimensions = ?'
const SOME = `SELECT resource_id, chunks FROM chunk_vectors JOIN resource ON resource.id = resource_id
  WHERE dimensions = ? AND library_id IN (SELECT value FROM json_each(?))`

/** The result of comparing chunks with a query. */
interface ComparedChunks {
  /** The resources with the nearest chunks, the best first. */
  readonly nearest: readonly NearChunk[]
  /** The row ids of all resources that have chunks. */
  readonly embedded: ReadonlySet<number>
}

/** The share of its first chunk's nearness that is added to a resource, because that chunk says what the resource is about. */
const FIRST_CHUNK_WEIGHT = 1
/** This times the natural logarithm of the number of chunks is subtracted, because the best of many chunks is near by chance. */
const CHANCE_WEIGHT = 0.03

interface CompareOptions {
  /** Row ids; undefined means all libraries. */
  readonly libraryIds?: readonly number[] | undefined
  /** Returns whether a resource may be among the nearest. */
  isShown?(resourceId: number): boolean
}

/** Compares every chunk of these libraries with a query. */
export function compareChunks(
  database: Database,
  { vector, minSimilarity }: QueryVector,
  { libraryIds, isShown = () => true }: CompareOptions,
): ComparedChunks {
  const statement = database.prepare<unknown[], [number, Buffer]>(libraryIds ? SOME : ALL).raw()
  const rows = libraryIds
    ? statement.iterate(vector.length, JSON.stringify(libraryIds))
    : statement.iterate(vector.length)
  const compare = createComparison(vector)
  const resources = new Map<number, { best: ComparedChunk | undefined; beginning: number; chunks: number }>()
  // Assumes USUAL_CHUNKS chunks of usual similarity, because a few chunks alone say little about the mean.
  let [sum, count] = [USUAL_CHUNKS * minSimilarity, USUAL_CHUNKS]
  // Collects per resource, because a long one has several rows.
  for (const [resourceId, packed] of rows) {
    const found = resources.get(resourceId) ?? { best: undefined, beginning: 0, chunks: 0 }
    for (const chunk of compare(packed)) {
      sum += chunk.similarity
      count += 1
      found.chunks += 1
      if (!found.best || chunk.similarity > found.best.similarity) found.best = chunk
      if (chunk.ordinal === 0 && chunk.start === 0) found.beginning = chunk.similarity
    }
    resources.set(resourceId, found)
  }
  // Relates similarities to their mean, because it depends on the model how similar unrelated texts are.
  const mean = sum / count
  const share = (similarity: number) => Math.max(0, (similarity - mean) / (1 - mean))
  const nearest = [...resources].flatMap(([resourceId, { best, beginning, chunks }]) => {
    if (!best || best.similarity < minSimilarity) return []
    const nearness = share(best.similarity) + FIRST_CHUNK_WEIGHT * share(beginning) - CHANCE_WEIGHT * Math.log(chunks)
    return [{ resourceId, ordinal: best.ordinal, start: best.start, nearness: Math.max(0, nearness) }]
  })
  nearest.sort((one, other) => other.nearness - one.nearness || one.resourceId - other.resourceId)
  const shown: NearChunk[] = []
  for (const chunk of nearest) {
    if (shown.length === MAX_RESOURCES) break
    if (isShown(chunk.resourceId)) shown.push(chunk)
  }
  return { nearest: shown, embedded: new Set(resources.keys()) }
}

/** A resource that was found by its terms, by its meaning, or by both. */
export interface FusedResource {
  readonly resourceId: number
  /** The ordinals of its passages with terms, the best first. */
  readonly ordinals: readonly number[]
  /** Its nearest chunk if its meaning counts more than its terms, otherwise undefined. */
  readonly chunk?: NearChunk | undefined
}

/** What a nearness of 1 adds to a score by terms, which is about 1 for a passage that has each of two terms once. */
const NEARNESS_WEIGHT = 0.75
/** The share by which a nearness of 1 raises a score by terms, so that meaning also decides between high scores. */
const NEARNESS_SHARE = 0.5
/** If one of the best N resources by terms has all terms in its best passage, it is also among the best N of the merged ranking. */
const KEPT_RESOURCES = 3
/** Resources without chunks count as near as the average of this many best resources by terms. */
const AVERAGED_RESOURCES = 20

/**
 * Merges the resources that were found by terms and by meaning into one ranking. Resources without chunks count as averagely near, so that
 * the ranking does not favour those that are embedded already.
 */
export function fuseRanks(byTerms: readonly FoundResource[], { nearest, embedded }: ComparedChunks): FusedResource[] {
  const chunks = new Map(nearest.map((chunk) => [chunk.resourceId, chunk]))
  const nearness = (resourceId: number) => chunks.get(resourceId)?.nearness ?? 0
  const first = byTerms.slice(0, AVERAGED_RESOURCES).filter(({ resourceId }) => embedded.has(resourceId))
  const usual = first.reduce((sum, { resourceId }) => sum + nearness(resourceId), 0) / Math.max(1, first.length)
  const scored = byTerms.map(({ resourceId, ordinals, score }) => {
    const near = embedded.has(resourceId) ? nearness(resourceId) : usual
    const chunk = NEARNESS_WEIGHT * near > score ? chunks.get(resourceId) : undefined
    chunks.delete(resourceId)
    return { resourceId, ordinals, chunk, score: score * (1 + NEARNESS_SHARE * near) + NEARNESS_WEIGHT * near }
  })
  for (const [resourceId, chunk] of chunks)
    scored.push({ resourceId, ordinals: [], chunk, score: NEARNESS_WEIGHT * nearness(resourceId) })
  scored.sort((one, other) => other.score - one.score)
  const kept = new Set(
    byTerms.slice(0, KEPT_RESOURCES).flatMap(({ resourceId, hasAllTerms }) => (hasAllTerms ? [resourceId] : [])),
  )
  const others = scored.filter(({ resourceId }) => !kept.has(resourceId))
  const replaced = new Set(others.slice(KEPT_RESOURCES - kept.size))
  return [...scored.filter((each) => !replaced.has(each)), ...replaced]
}
