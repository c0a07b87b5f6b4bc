import type { Database } from 'better-sqlite3'
import { passageReader } from '../database/tables/passages.ts'
import { excerptOf } from './excerpt.ts'
import { findResources } from './find-resources.ts'
import { type Correction, type IndexLookup, type PlannedClause, planQuery } from './query/plan-query.ts'

export interface SearchRequest {
  readonly query: string
  /** Row ids; all libraries when undefined. */
  readonly libraryIds?: readonly number[] | undefined
  readonly limit: number
  /** How many passages of each resource get an excerpt. */
  readonly passages: number
}

export interface MatchingPassage {
  readonly ordinal: number
  /** Around the match, its words in `**…**`. */
  readonly excerpt: string
  readonly marks: [start: number, end: number][]
}

/** A resource with its best matching passages, the best first. */
export interface SearchHit {
  readonly resourceId: number
  readonly passages: readonly MatchingPassage[]
}

export interface SearchResult {
  readonly hits: readonly SearchHit[]
  readonly matched: 'all' | 'some'
  readonly corrections: readonly Correction[]
}

const COMMON = 200

/** Searches the words of the index: each clause by its forms, documents that have all first. One read transaction. */
export function searchIndex(database: Database, request: SearchRequest): SearchResult {
  const search = database.transaction((): SearchResult => {
    const { clauses, ...plan } = planQuery(request.query, lookupIn(database))
    const found = findResources(database, { clauses, ...plan }, request.libraryIds, request.limit)
    const excerptsOf = openExcerpts(database, clauses, request.passages)
    const hits = found.resources.map(({ resourceId, ordinals }) => ({
      resourceId,
      passages: excerptsOf(resourceId, ordinals),
    }))
    return { hits, matched: found.matched, corrections: plan.corrections }
  })
  return search.deferred()
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

function openExcerpts(database: Database, clauses: readonly PlannedClause[], count: number) {
  const passages = passageReader(database)
  return (resourceId: number, ordinals: readonly number[]): MatchingPassage[] =>
    ordinals.slice(0, count).map((ordinal) => {
      return { ordinal, ...excerptOf(passages.one(resourceId, ordinal)?.text ?? '', clauses) }
    })
}
