import type { Database } from 'better-sqlite3'

/** A resource with its matching passages, the best first. */
export interface SearchHit {
  readonly resourceId: number
  readonly ordinals: readonly number[]
}

export interface SearchResult {
  readonly hits: readonly SearchHit[]
  /** Whether each passage has all the terms or only some of them. */
  readonly matched: 'all' | 'any'
}

interface MatchRow {
  readonly resourceId: number
  readonly ordinal: number
}

const MAX_TERMS = 32
const MAX_PASSAGES_READ = 20_000
// Once there are enough resources, a few more rows find further matching passages of the same resources.
const MIN_PASSAGES_A_HIT = 10

const SEARCH = `SELECT resource_id AS resourceId, ordinal FROM passage_words
  JOIN passage ON passage.id = passage_words.rowid JOIN resource ON resource.id = resource_id
  WHERE passage_words MATCH ? AND library_id IN (SELECT value FROM json_each(?)) ORDER BY rank`

/** Finds up to `limit` resources of these libraries, ranked by BM25 over title and text. */
export function searchPassages(database: Database, query: string, libraryIds: number[], limit: number): SearchResult {
  const terms = termsOf(query)
  if (terms.length === 0) return { hits: [], matched: 'all' }
  const find = (expression: string) => collectHits(database, expression, libraryIds, limit)
  const hits = find(terms.join(' AND '))
  if (hits.length > 0 || terms.length === 1) return { hits, matched: 'all' }
  return { hits: find(terms.join(' OR ')), matched: 'any' }
}

/** Quotes each word as an FTS5 string, so that FTS5 reads nothing in it as an operator. */
function termsOf(query: string): string[] {
  const words = query.split(/[\s\0]+/).filter((word) => /[\p{L}\p{N}]/u.test(word))
  return words.slice(0, MAX_TERMS).map((word) => `"${word.replaceAll('"', '""')}"`)
}

function collectHits(database: Database, expression: string, libraryIds: number[], limit: number): SearchHit[] {
  const found = new Map<number, number[]>()
  let readCount = 0
  const rows = database.prepare<[string, string], MatchRow>(SEARCH).iterate(expression, JSON.stringify(libraryIds))
  for (const { resourceId, ordinal } of rows) {
    const ordinals = found.get(resourceId)
    if (ordinals) ordinals.push(ordinal)
    else if (found.size < limit) found.set(resourceId, [ordinal])
    readCount += 1
    const isEnough = found.size === limit && readCount >= limit * MIN_PASSAGES_A_HIT
    if (isEnough || readCount === MAX_PASSAGES_READ) break
  }
  return [...found].map(([resourceId, ordinals]) => ({ resourceId, ordinals }))
}
