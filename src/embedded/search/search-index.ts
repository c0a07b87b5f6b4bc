import type { Database } from 'better-sqlite3'
import { passageReader, type StoredPassage } from '../database/passages.ts'
import { CHUNK_LENGTH } from '../embedding/chunker.ts'
import type { QueryVector } from '../embedding/semantics.ts'
import { excerptOf } from './excerpt.ts'
import { findResources } from './find-resources.ts'
import { type Correction, type IndexLookup, type PlannedClause, planQuery } from './plan-query.ts'
import { type FusedResource, fuseRanks, nearestChunks } from './semantic-ranks.ts'

export interface SearchRequest {
  readonly query: string
  /** Row ids; all libraries when undefined. */
  readonly libraryIds?: readonly number[] | undefined
  readonly limit: number
  /** This number of passages of each resource get an excerpt. */
  readonly passages: number
  /** Also finds resources that mean the same; their ranks are merged with those of the terms. */
  readonly semantic?: QueryVector | undefined
}

export interface MatchingPassage {
  readonly passage: StoredPassage
  /** Around the match, its words in `**…**`. */
  readonly excerpt: string
  readonly marks: [start: number, end: number][]
}

/** A resource with its best matching passages, the best first. */
export interface SearchHit {
  readonly resourceId: number
  /** Its first text; undefined also where no passages are asked for. */
  readonly first?: StoredPassage | undefined
  readonly passages: readonly MatchingPassage[]
}

export interface SearchResult {
  readonly hits: readonly SearchHit[]
  readonly matched: 'all' | 'some'
  readonly corrections: readonly Correction[]
}

const COMMON = 200
/** As many as can be asked for, so that the ranks to be merged don't depend on the limit. */
const MAX_TO_MERGE = 100

/** Searches the words of an index: each clause by its forms, documents that have all first. One read transaction. */
export type SearchIndex = (request: SearchRequest) => SearchResult

export function openSearchIndex(database: Database): SearchIndex {
  const passages = passageReader(database)
  const search = database.transaction((request: SearchRequest): SearchResult => {
    const { libraryIds, semantic, limit } = request
    const { clauses, ...plan } = planQuery(request.query, lookupIn(database))
    const found = findResources(database, { clauses, ...plan }, libraryIds, semantic ? MAX_TO_MERGE : limit)
    const near = semantic ? nearestChunks(database, semantic, libraryIds) : []
    const showHit = hitReader(passages, clauses, request.passages)
    const hits = fuseRanks(found.resources, near).slice(0, limit).map(showHit)
    return { hits, matched: found.matched, corrections: plan.corrections }
  })
  return (request) => search.deferred(request)
}

function lookupIn(database: Database): IndexLookup {
  const atLeast = database
    .prepare<[string, number]>('SELECT 1 FROM passage_words WHERE passage_words MATCH ? LIMIT 1 OFFSET ?')
    .pluck()
  return {
    exists: (expression) => atLeast.get(expression, 0) !== undefined,
    isCommon: (expression) => atLeast.get(expression, COMMON) !== undefined,
  }
}

/** Reads what a hit shows here, because reading texts would hold up the requests that the service answers. */
function hitReader(passages: ReturnType<typeof passageReader>, clauses: readonly PlannedClause[], count: number) {
  const matching = (resourceId: number, ordinal: number, part = (text: string) => text): MatchingPassage[] => {
    const passage = passages.one(resourceId, ordinal)
    return passage ? [{ passage, ...excerptOf(part(passage.text), clauses) }] : []
  }
  return ({ resourceId, ordinals, chunk }: FusedResource): SearchHit => {
    if (count === 0) return { resourceId, passages: [] }
    const near = chunk ? matching(resourceId, chunk.ordinal, (text) => chunkOf(text, chunk.start)) : []
    const others = ordinals.filter((ordinal) => ordinal !== chunk?.ordinal).slice(0, count - near.length)
    const best = [...near, ...others.flatMap((ordinal) => matching(resourceId, ordinal))]
    return { resourceId, first: passages.from(resourceId, 0, 1)[0], passages: best }
  }
}

function chunkOf(text: string, start: number): string {
  return text.slice(start, start + CHUNK_LENGTH)
}
