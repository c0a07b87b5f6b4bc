import type { Database } from 'better-sqlite3'
import { libraryWord } from '../database/passages.ts'
import { type Alternative, expressionOf } from './alternatives.ts'

export type PassageRow = readonly [resourceId: number, ordinal: number, score: number]

/** What the index knows of words, for one search. */
export interface Postings {
  /** The number of passages that have it, in all libraries. */
  count(alternative: Alternative): number
  /** True when more than this number of passages have it. */
  isCommoner(alternative: Alternative, count: number): boolean
  /** The weight of words that this number of passages have. */
  rarity(count: number): number
  /** Passages that have it, with a score between 0 and 2.2 by its frequency, the column and the length of the passage. */
  scored(alternative: Alternative, limit: number): PassageRow[]
  /** Passages of an FTS5 expression, each with the score 1. */
  having(expression: string, limit: number): PassageRow[]
}

/** Opens the postings of these libraries, all when undefined. */
export type OpenPostings = (libraryIds: readonly number[] | undefined) => Postings

// Headings and names weigh more than text.
const COLUMN_WEIGHTS = '1, 1, 2, 4, 0'
const FOUND = 'FROM passage_words JOIN passage ON passage.id = passage_words.rowid'
const OF_LIBRARIES = `JOIN resource ON resource.id = resource_id AND library_id IN (SELECT value FROM json_each(?))`
// The vocabulary counts words in a fraction of the time of a query, but no phrases, nor what the index cuts, such as `(1)` for ⑴.
const CUT = /(?=[\0-\x7f])[^A-Za-z0-9~.]/
const LEAST_RARITY = 1e-6
const MAX_COUNTS = 20_000

export function postingsOf(database: Database): OpenPostings {
  database.exec('CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab (main, passage_words, row)')
  const countWord = database.prepare<[string], number>('SELECT doc FROM temp.vocabulary WHERE term = ?').pluck()
  const matching = 'FROM passage_words WHERE passage_words MATCH ?'
  const countMatching = database.prepare<[string], number>(`SELECT count(*) ${matching}`).pluck()
  const offset = database.prepare<[string, number], number>(`SELECT 1 ${matching} LIMIT 1 OFFSET ?`).pluck()
  const countAll = database.prepare<[], number>('SELECT count(*) FROM passage').pluck()
  const select = (score: string, join: string) =>
    database.prepare<unknown[], PassageRow>(
      `SELECT resource_id, ordinal, ${score} ${FOUND} ${join} WHERE passage_words MATCH ? LIMIT ?`,
    )
  const bm25 = `-bm25(passage_words, ${COLUMN_WEIGHTS})`
  const [scored, scoredOf, having] = [select(bm25, ''), select(bm25, OF_LIBRARIES), select('1', '')].map((each) =>
    each.raw(),
  )
  const version = database.prepare<[], number>('PRAGMA data_version').pluck()
  // Of what no other connection has changed since; a search asks for some 50 counts, a fifth of its time.
  let [counts, countedVersion] = [new Map<string, number>(), version.get()]
  return (libraryIds) => {
    const currentVersion = version.get()
    if (currentVersion !== countedVersion || counts.size > MAX_COUNTS) counts = new Map()
    countedVersion = currentVersion
    const total = countAll.get() ?? 0
    const libraries = libraryIds?.map((id) => `"${libraryWord(id)}"`).join(' OR ')
    const within = libraries === undefined ? '' : `library : (${libraries || '""'}) AND `
    const count = (alternative: Alternative) => {
      const expression = expressionOf(alternative)
      const word = alternative.words.join(' ')
      const isOfVocabulary = !alternative.isPrefix && !CUT.test(word)
      const known =
        counts.get(expression) ?? (isOfVocabulary ? countWord.get(word) : countMatching.get(expression)) ?? 0
      counts.set(expression, known)
      return known
    }
    return {
      count,
      isCommoner: (alternative, least) =>
        alternative.isPrefix || CUT.test(alternative.words.join(' '))
          ? offset.get(expressionOf(alternative), least) !== undefined
          : count(alternative) > least,
      rarity: (found) => Math.log1p((total - found + 0.5) / (found + 0.5)),
      scored: (alternative, limit) => {
        const expression = expressionOf(alternative)
        const rows = libraryIds
          ? scoredOf?.all(JSON.stringify(libraryIds), expression, limit)
          : scored?.all(expression, limit)
        // FTS5 multiplies by a rarity of its own, which differs for each form of a word.
        const found = count(alternative)
        const rarity = Math.max(LEAST_RARITY, Math.log((total - found + 0.5) / (found + 0.5)))
        return (rows ?? []).map(([resourceId, ordinal, score]) => [resourceId, ordinal, score / rarity])
      },
      having: (expression, limit) => having?.all(within + expression, limit) ?? [],
    }
  }
}
