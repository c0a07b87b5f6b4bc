import type { Database } from 'better-sqlite3'
import { passageReader } from '../database/tables/passages.ts'
import { WINDOW_LENGTH } from '../embedding/cut-windows.ts'
import type { QueryMeaning } from '../embedding/open-meaning.ts'
import { excerptOf } from './excerpt.ts'
import { findResources } from './find-resources.ts'
import { type FusedResource, fuseRanks } from './meaning/fuse-ranks.ts'
import { nearestWindows } from './meaning/nearest-windows.ts'
import { type Correction, type IndexLookup, type PlannedClause, planQuery } from './query/plan-query.ts'

export interface SearchRequest {
  readonly query: string
  /** Row ids; all libraries when undefined. */
  readonly libraryIds?: readonly number[] | undefined
  readonly limit: number
  /** How many passages of each resource get an excerpt. */
  readonly passages: number
  /** Also finds resources that mean the same; their ranks are merged with those of the terms. */
  readonly meaning?: QueryMeaning | undefined
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
/** As many as can be asked for, so that the ranks to be merged don't depend on the limit. */
const MAX_TO_MERGE = 100

/** Searches the words of the index: each clause by its forms, documents that have all first. One read transaction. */
export function searchIndex(database: Database, request: SearchRequest): SearchResult {
  const search = database.transaction((): SearchResult => {
    const { libraryIds, meaning, limit } = request
    const { clauses, ...plan } = planQuery(request.query, lookupIn(database))
    const found = findResources(database, { clauses, ...plan }, libraryIds, meaning ? MAX_TO_MERGE : limit)
    const near = meaning ? nearestWindows(database, meaning, libraryIds) : []
    const excerptsOf = openExcerpts(database, clauses, request.passages)
    const hits = fuseRanks(found.resources, near)
      .slice(0, limit)
      .map((resource) => ({ resourceId: resource.resourceId, passages: excerptsOf(resource) }))
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
  const textOf = (resourceId: number, ordinal: number) => passages.one(resourceId, ordinal)?.text ?? ''
  return ({ resourceId, ordinals, window }: FusedResource): MatchingPassage[] => {
    const matching = ordinals
      .filter((ordinal) => ordinal !== window?.ordinal)
      .slice(0, count)
      .map((ordinal) => ({ ordinal, ...excerptOf(textOf(resourceId, ordinal), clauses) }))
    if (!window) return matching
    const { ordinal, start } = window
    const near = textOf(resourceId, ordinal).slice(start, start + WINDOW_LENGTH)
    return [{ ordinal, ...excerptOf(near, clauses) }, ...matching].slice(0, count)
  }
}
