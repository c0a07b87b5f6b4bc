import type { Database } from 'better-sqlite3'
import { type ComparedChunk, createComparison } from '../embedding/packed-vectors.ts'
import type { QueryVector } from '../embedding/semantics.ts'
import type { FoundResource } from './rank-by-words.ts'

/** The chunk of a resource that is nearest to the query. */
export interface NearChunk {
  readonly resourceId: number
  readonly ordinal: number
  /** Its offset in its passage. */
  readonly start: number
  /** How near the resource is to the query: from 0, as near as chunks are on average, to about 1.5. */
  readonly nearness: number
}

const MAX_RESOURCES = 300
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
}

/** The share of the nearness of its first chunk, which says what a resource is about, that a resource gets on top. */
const BEGINNING = 1
/** The best of many chunks is near by chance: so much less it counts for each e-fold number of chunks. */
const CHANCE = 0.03

interface Compared {
  /** All when undefined. */
  readonly libraryIds?: readonly number[] | undefined
  /** Leaves out resources as if they were not there. */
  isShown?(resourceId: number): boolean
}

/** Compares every chunk of these libraries. */
export function compareChunks(
  database: Database,
  { vector, minSimilarity }: QueryVector,
  { libraryIds, isShown = () => true }: Compared,
): ComparedChunks {
  const statement = database.prepare<unknown[], [number, Buffer]>(libraryIds ? SOME : ALL).raw()
  const rows = libraryIds
    ? statement.iterate(vector.length, JSON.stringify(libraryIds))
    : statement.iterate(vector.length)
  const compare = createComparison(vector)
  const resources = new Map<number, { best: ComparedChunk | undefined; beginning: number; chunks: number }>()
  // A few chunks say little about the mean.
  let [sum, count] = [USUAL_CHUNKS * minSimilarity, USUAL_CHUNKS]
  // A long resource has several rows.
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
  // How similar texts are that have nothing to do with each other depends on the model.
  const mean = sum / count
  const share = (similarity: number) => Math.max(0, (similarity - mean) / (1 - mean))
  const nearest = [...resources].flatMap(([resourceId, { best, beginning, chunks }]) => {
    if (!best || best.similarity < minSimilarity) return []
    const nearness = share(best.similarity) + BEGINNING * share(beginning) - CHANCE * Math.log(chunks)
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
  /** Its passages that have terms, the best first. */
  readonly ordinals: readonly number[]
  /** Its nearest chunk, where its meaning ranks it higher than its terms. */
  readonly chunk?: NearChunk | undefined
}

/** What a nearness of 1 adds to a score by terms, of which 1 is a passage that has each term of two once. */
const ADDED = 0.75
/** The share of its score by terms that a nearness of 1 adds: among the best by terms, which score several, it decides as well. */
const RAISED = 0.5
/** Of so many first resources by their terms, those with a passage that has them all stay among the same number. */
const FIRST = 3
/** The resources without chunks get as much for their meaning as so many of the first by terms have on average. */
const COMPARED = 20

/**
 * Merges what was found by terms and by meaning into one ranking. Resources without chunks get what others get on average, so that the
 * ranking does not favour what is embedded already.
 */
export function fuseRanks(byTerms: readonly FoundResource[], { nearest, embedded }: ComparedChunks): FusedResource[] {
  const chunks = new Map(nearest.map((chunk) => [chunk.resourceId, chunk]))
  const nearness = (resourceId: number) => chunks.get(resourceId)?.nearness ?? 0
  const first = byTerms.slice(0, COMPARED).filter(({ resourceId }) => embedded.has(resourceId))
  const usual = first.reduce((sum, { resourceId }) => sum + nearness(resourceId), 0) / Math.max(1, first.length)
  const scored = byTerms.map(({ resourceId, ordinals, score }) => {
    const near = embedded.has(resourceId) ? nearness(resourceId) : usual
    const chunk = ADDED * near > score ? chunks.get(resourceId) : undefined
    chunks.delete(resourceId)
    return { resourceId, ordinals, chunk, score: score * (1 + RAISED * near) + ADDED * near }
  })
  for (const [resourceId, chunk] of chunks)
    scored.push({ resourceId, ordinals: [], chunk, score: ADDED * nearness(resourceId) })
  scored.sort((one, other) => other.score - one.score)
  const kept = new Set(byTerms.slice(0, FIRST).flatMap(({ resourceId, isWhole }) => (isWhole ? [resourceId] : [])))
  const others = scored.filter(({ resourceId }) => !kept.has(resourceId))
  const replaced = new Set(others.slice(FIRST - kept.size))
  return [...scored.filter((each) => !replaced.has(each)), ...replaced]
}
