import type { Database } from 'better-sqlite3'
import { passageReader, type StoredPassage } from '../database/passages-table.ts'
import { versionsTable } from '../database/versions-table.ts'
import { CHUNK_LENGTH } from '../embedding/chunks.ts'
import type { QueryVector } from '../embedding/semantics.ts'
import { type Mark, type MatchWords, wordMatcher } from './match-words.ts'
import { type Correction, planQuery } from './plan-query.ts'
import { postingsOf } from './postings.ts'
import { type FoundResource, findResources } from './rank-by-words.ts'
import { compareChunks, type FusedResource, fuseRanks, type NearChunk } from './rank-by-words-and-meaning.ts'

export interface SearchRequest {
  readonly query: string
  /** Row ids; undefined means all libraries. */
  readonly libraryIds?: readonly number[] | undefined
  readonly limit: number
  /** The number of passages of each hit that get an excerpt. */
  readonly passages: number
  /** True to find only the newest version of each document. */
  readonly isCurrentOnly?: boolean | undefined
  /** The query as a vector, by which resources of similar meaning are found as well; undefined for a search by terms only. */
  readonly semantic?: QueryVector | undefined
}

/** A part of a text on one line. */
interface Excerpt {
  /** The text, with its matching words in `**…**`. */
  readonly excerpt: string
  /** The positions in `excerpt` at which each matching word begins and ends, without its asterisks. */
  readonly marks: [start: number, end: number][]
}

export interface MatchingPassage extends Excerpt {
  readonly passage: StoredPassage
}

/** A resource with its best matching passages, the best first. */
export interface SearchHit {
  readonly resourceId: number
  /** Its first passage with text; undefined if there is none, or the request asks for no passages. */
  readonly first?: StoredPassage | undefined
  readonly passages: readonly MatchingPassage[]
}

export interface SearchResult {
  readonly hits: readonly SearchHit[]
  readonly matched: 'all' | 'some'
  /** True if the query only excludes words. */
  readonly onlyExcludes: boolean
  /** Words of the query that no passage has in any form. */
  readonly unknown: readonly string[]
  readonly corrections: readonly Correction[]
}

/** How many of the best hits by terms are merged with those by meaning, whatever the limit is. Further hits by terms follow. */
const MAX_TO_MERGE = 300

/** Searches by terms and, if the request has a vector, by meaning, in one read transaction. */
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

/** Returns a function that reads passages with their marks, each only once in a search. */
function passageCache({ one }: ReturnType<typeof passageReader>, matchWords: MatchWords): ReadPassages {
  const cache = new Map<string, ReadPassage | undefined>()
  return (resourceId, ordinal) => {
    const key = `${resourceId} ${ordinal}`
    if (!cache.has(key)) {
      const passage = one(resourceId, ordinal)
      cache.set(key, passage && { passage, marks: matchWords(passage.text) })
    }
    return cache.get(key)
  }
}

/** Returns a function that reads the texts of a hit. They are read in this thread, so that the service's thread is free for requests. */
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

const EXCERPT_LENGTH = 320
/** An excerpt from the middle of a text begins about this many characters before its first mark. */
const LEAD = 60

/** Returns the part of a passage with the most clauses, their words in `**…**`. */
function excerptOf(text: string, marks: readonly Mark[]): Excerpt {
  const first = marks[startOfBest(marks)]
  const start = first === undefined || first.end <= EXCERPT_LENGTH ? 0 : wordStart(text, first.start - LEAD)
  const end = start + EXCERPT_LENGTH >= text.length ? text.length : wordStart(text, start + EXCERPT_LENGTH)
  const inside = joinMarks(marks.filter((mark) => mark.start >= start && mark.end <= end))
  return withMarks(text, start, end, inside)
}

/** Returns the index of the mark from which on the most clauses are within an excerpt; among equals, the most marks. */
function startOfBest(marks: readonly Mark[]): number {
  let [best, bestScore] = [0, 0]
  for (const [index, { start }] of marks.entries()) {
    const inside = marks.slice(index, index + 40).filter(({ end }) => end - start <= EXCERPT_LENGTH - LEAD)
    const score = new Set(inside.map(({ clause }) => clause)).size * 100 + inside.length
    if (score > bestScore) [best, bestScore] = [index, score]
  }
  return best
}

/** Joins marks that overlap or touch, such as those of pairs of characters. */
function joinMarks(marks: readonly Mark[]): Mark[] {
  const joined: Mark[] = []
  for (const mark of marks) {
    const last = joined.at(-1)
    if (last && mark.start <= last.end) joined[joined.length - 1] = { ...last, end: Math.max(last.end, mark.end) }
    else joined.push(mark)
  }
  return joined
}

/** Returns the beginning of the next word after `at`, or `at` itself if no blank is near; never a position inside a character. */
function wordStart(text: string, at: number): number {
  const blank = text.slice(at, at + LEAD / 2).search(/\s/)
  const start = blank < 0 ? at : at + blank + 1
  return /[\udc00-\udfff]/.test(text.charAt(start)) ? start + 1 : start
}

function withMarks(text: string, start: number, end: number, inside: readonly Mark[]): Excerpt {
  const marks: Excerpt['marks'] = []
  let [excerpt, at] = [start > 0 ? '… ' : '', start]
  const add = (to: number) => {
    const part = text.slice(at, to).replace(/\s+/g, ' ')
    excerpt += /^$| $/.test(excerpt) ? part.trimStart() : part
    at = to
  }
  for (const mark of inside) {
    add(mark.start)
    excerpt += '**'
    const from = excerpt.length
    add(mark.end)
    marks.push([from, excerpt.length])
    excerpt += '**'
  }
  add(end)
  return { excerpt: excerpt.trimEnd() + (end < text.length ? ' …' : ''), marks }
}
