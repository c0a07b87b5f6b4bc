import type { Database } from 'better-sqlite3'
import { libraryWord } from '../database/passages-table.ts'
import { type Alternative, expressionOf } from './alternatives.ts'

/** Greater than any ordinal of a passage. */
const ORDINALS = 2 ** 21

/** The number of a passage: those of a resource follow each other in their order. */
function passageNumber(resourceId: number, ordinal: number): number {
  return resourceId * ORDINALS + ordinal
}

export function resourceOf(passage: number): number {
  return Math.floor(passage / ORDINALS)
}

export function ordinalOf(passage: number): number {
  return passage % ORDINALS
}

export type ScoredPassage = [passage: number, score: number]

/** What the index knows of words, for one search. */
export interface Postings {
  /** The number of passages that have it, in all libraries. */
  count(alternative: Alternative): number
  /** True when more than this number of passages have it. */
  isMoreFrequentThan(alternative: Alternative, count: number): boolean
  /** The weight of words that this number of passages have. */
  rarity(count: number): number
  /** Passages that have it, with a score between 0 and 2.2 by its frequency, the column and the length of the passage. */
  scored(alternative: Alternative, limit: number): readonly ScoredPassage[]
  /** The numbers of passages of an FTS5 expression. */
  having(expression: string, limit: number): readonly number[]
}

/** Opens the postings of these libraries, all when undefined. */
export type OpenPostings = (libraryIds: readonly number[] | undefined) => Postings

// Headings and names weigh more than text.
const COLUMN_WEIGHTS = '1, 2, 4'
// The vocabulary counts words in a fraction of the time of a query, but no phrases, nor what the index cuts, such as `(1)` for ⑴.
const CUT = /(?=[\0-\x7f])[^A-Za-z0-9~.]/
const MIN_RARITY = 1e-6
const MAX_COUNTS = 20_000
const MAX_PLACES = 50_000

export function postingsOf(database: Database): OpenPostings {
  database.exec('CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab (main, passage_words, row)')
  const countWord = database.prepare<[string], number>('SELECT doc FROM temp.vocabulary WHERE term = ?').pluck()
  const matching = 'FROM passage_words WHERE passage_words MATCH ?'
  const countMatching = database.prepare<[string], number>(`SELECT count(*) ${matching}`).pluck()
  const offset = database.prepare<[string, number], number>(`SELECT 1 ${matching} LIMIT 1 OFFSET ?`).pluck()
  const countAll = database.prepare<[], number>('SELECT count(*) FROM passage').pluck()
  const scores = `rowid, -bm25(passage_words, ${COLUMN_WEIGHTS})`
  const scoredOfAll = database.prepare<unknown[], ScoredPassage>(`SELECT ${scores} ${matching} LIMIT ?`).raw()
  const scoredOfSome = database
    .prepare<unknown[], ScoredPassage>(
      `SELECT passage_words.${scores} FROM passage_words
       JOIN passage ON passage.id = passage_words.rowid JOIN resource ON resource.id = resource_id
       WHERE passage_words MATCH ? AND library_id IN (SELECT value FROM json_each(?)) LIMIT ?`,
    )
    .raw()
  const having = database.prepare<[string, number], number>(`SELECT rowid ${matching} LIMIT ?`).pluck()
  const placesOf = database
    .prepare<[string], [id: number, resourceId: number, ordinal: number]>(
      'SELECT passage.id, resource_id, ordinal FROM json_each(?) JOIN passage ON passage.id = value',
    )
    .raw()
  const version = database.prepare<[], number>('PRAGMA data_version').pluck()
  // What no other connection has changed since: a search asks for some 50 counts and some thousand passages, half of its time.
  const counts = new Map<string, number>()
  const places = new Map<number, number>()
  let knownVersion = version.get()
  /** Puts the number of each passage in the place of its row id. */
  const locate = (ids: readonly number[]): number[] => {
    const unknown = ids.filter((id) => !places.has(id))
    const found = unknown.length > 0 ? placesOf.all(JSON.stringify(unknown)) : []
    for (const [id, resourceId, ordinal] of found) places.set(id, passageNumber(resourceId, ordinal))
    return ids.flatMap((id) => places.get(id) ?? [])
  }
  return (libraryIds) => {
    const currentVersion = version.get()
    if (currentVersion !== knownVersion || counts.size > MAX_COUNTS) counts.clear()
    if (currentVersion !== knownVersion || places.size > MAX_PLACES) places.clear()
    knownVersion = currentVersion
    const total = countAll.get() ?? 0
    const libraries = libraryIds?.map((id) => `"${libraryWord(id)}"`).join(' OR ')
    const within = libraries === undefined ? '' : `(${libraries || '""'}) AND `
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
      isMoreFrequentThan: (alternative, least) =>
        alternative.isPrefix || CUT.test(alternative.words.join(' '))
          ? offset.get(expressionOf(alternative), least) !== undefined
          : count(alternative) > least,
      rarity: (found) => Math.log1p((total - found + 0.5) / (found + 0.5)),
      scored: (alternative, limit) => {
        const expression = expressionOf(alternative)
        const rows = libraryIds
          ? scoredOfSome.all(expression, JSON.stringify(libraryIds), limit)
          : scoredOfAll.all(expression, limit)
        const passages = locate(rows.map(([id]) => id))
        // FTS5 multiplies by a rarity of its own, which differs for each form of a word.
        const found = count(alternative)
        const rarity = Math.max(MIN_RARITY, Math.log((total - found + 0.5) / (found + 0.5)))
        return rows.map(([, score], index) => [passages[index] ?? 0, score / rarity])
      },
      having: (expression, limit) => locate(having.all(within + expression, limit)),
    }
  }
}
