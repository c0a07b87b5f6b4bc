import type { Database } from 'better-sqlite3'
import { passageReader, type StoredPassage } from '../database/passages-table.ts'
import { versionsTable } from '../database/versions-table.ts'
import { CHUNK_LENGTH } from '../embedding/chunker.ts'
import type { QueryVector } from '../embedding/semantics.ts'
import { excerptOf } from './excerpt.ts'
import { type Mark, type MatchWords, wordMatcher } from './match-words.ts'
import { type Correction, planQuery } from './plan-query.ts'
import { postingsOf } from './postings.ts'
import { type FoundResource, findResources } from './rank-by-words.ts'
import { compareChunks, type FusedResource, fuseRanks, type NearChunk } from './rank-by-words-and-meaning.ts'

export interface SearchRequest {
  readonly query: string
  /** Row ids; all libraries when undefined. */
  readonly libraryIds?: readonly number[] | undefined
  readonly limit: number
  /** This number of passages of each resource get an excerpt. */
  readonly passages: number
  /** Finds only the newest of the versions of a document. */
  readonly isCurrentOnly?: boolean | undefined
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
  /** True for a query that says only what is excluded. */
  readonly onlyExcludes: boolean
  /** Words of the user that no passage has in any form. */
  readonly unknown: readonly string[]
  readonly corrections: readonly Correction[]
}

/** So many ranks are merged whatever the limit is, so that the order does not depend on it; further hits follow by their terms. */
const MAX_TO_MERGE = 300

/** Searches the words of an index, each clause by its forms, and the meaning. One read transaction. */
export type SearchIndex = (request: SearchRequest) => SearchResult

export function openSearchIndex(database: Database): SearchIndex {
  const passages = passageReader(database)
  const openPostings = postingsOf(database)
  const versions = versionsTable(database)
  const search = database.transaction((request: SearchRequest): SearchResult => {
    const { libraryIds, semantic, limit, isCurrentOnly = false } = request
    const isShown = (id: number) => !isCurrentOnly || versions.successorOf(id) === undefined
    const postings = openPostings(libraryIds)
    const plan = planQuery(request.query, postings)
    const read = passageCache(passages, wordMatcher(plan.clauses))
    const readMarks = (resourceId: number, ordinal: number) => read(resourceId, ordinal)?.marks ?? []
    const found = findResources(plan, { postings, readMarks, isShown }, Math.max(limit, semantic ? MAX_TO_MERGE : 0))
    const ranked = semantic
      ? fuseFirst(found.resources, compareChunks(database, semantic, { libraryIds, isShown }))
      : found.resources
    const showHit = hitReader(passages, read, request.passages)
    const { corrections, unknown, onlyExcludes } = plan
    return { hits: ranked.slice(0, limit).map(showHit), matched: found.matched, corrections, unknown, onlyExcludes }
  })
  return (request) => search.deferred(request)
}

function fuseFirst(byTerms: readonly FoundResource[], compared: ReturnType<typeof compareChunks>): FusedResource[] {
  const fused = fuseRanks(byTerms.slice(0, MAX_TO_MERGE), compared)
  const isFused = new Set(fused.map(({ resourceId }) => resourceId))
  return [...fused, ...byTerms.slice(MAX_TO_MERGE).filter(({ resourceId }) => !isFused.has(resourceId))]
}

interface ReadPassage {
  readonly passage: StoredPassage
  readonly marks: readonly Mark[]
}

type ReadPassages = (resourceId: number, ordinal: number) => ReadPassage | undefined

/** Reads each passage of a search once. */
function passageCache({ one }: ReturnType<typeof passageReader>, matchWords: MatchWords): ReadPassages {
  const known = new Map<string, ReadPassage | undefined>()
  return (resourceId, ordinal) => {
    const key = `${resourceId} ${ordinal}`
    if (!known.has(key)) {
      const passage = one(resourceId, ordinal)
      known.set(key, passage && { passage, marks: matchWords(passage.text) })
    }
    return known.get(key)
  }
}

/** Reads here what a hit shows: in the thread of the service, reading would delay its other requests. */
function hitReader({ from }: ReturnType<typeof passageReader>, read: ReadPassages, count: number) {
  const showPassage = (found: ReadPassage | undefined): MatchingPassage[] =>
    found ? [{ passage: found.passage, ...excerptOf(found.passage.text, found.marks) }] : []
  const showChunk = (resourceId: number, { ordinal, start }: NearChunk): MatchingPassage[] => {
    const found = read(resourceId, ordinal)
    if (!found) return []
    const end = start + CHUNK_LENGTH
    const marks = found.marks.filter((mark) => mark.start >= start && mark.end <= end)
    const moved = marks.map((mark) => ({ ...mark, start: mark.start - start, end: mark.end - start }))
    return [{ passage: found.passage, ...excerptOf(found.passage.text.slice(start, end), moved) }]
  }
  return ({ resourceId, ordinals, chunk }: FusedResource): SearchHit => {
    if (count === 0) return { resourceId, passages: [] }
    const near = chunk ? showChunk(resourceId, chunk) : []
    const others = ordinals.filter((ordinal) => ordinal !== chunk?.ordinal).slice(0, count - near.length)
    const best = [...near, ...others.flatMap((ordinal) => showPassage(read(resourceId, ordinal)))]
    return { resourceId, first: read(resourceId, 0)?.passage ?? from(resourceId, 0, 1)[0], passages: best }
  }
}
