import type { Database } from 'better-sqlite3'
import { libraryWord } from '../database/passages-table.ts'
import { type Alternative, expressionOf } from './alternatives.ts'

/** Greater than any ordinal of a passage. */
const ORDINALS = 2 ** 21

/** Returns a number for a passage; the passages of a resource have consecutive numbers. */
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

/** The index of words, as one search reads it. */
export interface Postings {
  /** Returns the number of passages with an alternative, in all libraries. */
  count(alternative: Alternative): number
  /** Returns whether more than `count` passages have an alternative. */
  isMoreFrequentThan(alternative: Alternative, count: number): boolean
  /** Returns the weight of words that `count` passages have. */
  rarity(count: number): number
  /** Returns passages with an alternative. Their scores, from 0 to 2.2, depend on its frequency and column, and the passage's length. */
  scored(alternative: Alternative, limit: number): readonly ScoredPassage[]
  /** Returns the numbers of passages that match an FTS5 expression. */
  matching(expression: string, limit: number): readonly number[]
}

/** Opens the postings of libraries by their row ids; undefined means all. */
export type OpenPostings = (libraryIds: readonly number[] | undefined) => Postings

// Headings and names weigh more than text.
const COLUMN_WEIGHTS = '1, 2, 4'
// Matches phrases, and words that the index splits, such as `(1)` for ⑴. A query has to count these; the vocabulary counts others faster.
const NOT_ONE_WORD = /(?=[\0-\x7f])[^A-Za-z0-9~.]/
const MIN_RARITY = 1e-6
const MAX_COUNTS = 20_000
const MAX_NUMBERS = 50_000

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
  const rowIds = database.prepare<[string, number], number>(`SELECT rowid ${matching} LIMIT ?`).pluck()
  const keysOf = database
    .prepare<[string], [id: number, resourceId: number, ordinal: number]>(
      'SELECT passage.id, resource_id, ordinal FROM json_each(?) JOIN passage ON passage.id = value',
    )
    .raw()
  const version = database.prepare<[], number>('PRAGMA data_version').pluck()
  // Caches until another connection writes. A search needs some 50 counts and 1,000 numbers of passages, without caches half of its time.
  const counts = new Map<string, number>()
  const numbers = new Map<number, number>()
  let cachedVersion = version.get()
  /** Returns the numbers of passages with these row ids. */
  const numbersOf = (ids: readonly number[]): number[] => {
    const missing = ids.filter((id) => !numbers.has(id))
    const found = missing.length > 0 ? keysOf.all(JSON.stringify(missing)) : []
    for (const [id, resourceId, ordinal] of found) numbers.set(id, passageNumber(resourceId, ordinal))
    return ids.flatMap((id) => numbers.get(id) ?? [])
  }
  return (libraryIds) => {
    const currentVersion = version.get()
    if (currentVersion !== cachedVersion || counts.size > MAX_COUNTS) counts.clear()
    if (currentVersion !== cachedVersion || numbers.size > MAX_NUMBERS) numbers.clear()
    cachedVersion = currentVersion
    const total = countAll.get() ?? 0
    const libraries = libraryIds?.map((id) => `"${libraryWord(id)}"`).join(' OR ')
    const within = libraries === undefined ? '' : `(${libraries || '""'}) AND `
    const count = (alternative: Alternative) => {
      const expression = expressionOf(alternative)
      const word = alternative.words.join(' ')
      const isOneWord = !alternative.isPrefix && !NOT_ONE_WORD.test(word)
      const found = counts.get(expression) ?? (isOneWord ? countWord.get(word) : countMatching.get(expression)) ?? 0
      counts.set(expression, found)
      return found
    }
    return {
      count,
      isMoreFrequentThan: (alternative, limit) =>
        alternative.isPrefix || NOT_ONE_WORD.test(alternative.words.join(' '))
          ? offset.get(expressionOf(alternative), limit) !== undefined
          : count(alternative) > limit,
      rarity: (found) => Math.log1p((total - found + 0.5) / (found + 0.5)),
      scored: (alternative, limit) => {
        const expression = expressionOf(alternative)
        const rows = libraryIds
          ? scoredOfSome.all(expression, JSON.stringify(libraryIds), limit)
          : scoredOfAll.all(expression, limit)
        const passages = numbersOf(rows.map(([id]) => id))
        // Divides by the rarity that FTS5 multiplied the score by, because it differs between the forms of a word.
        const found = count(alternative)
        const rarity = Math.max(MIN_RARITY, Math.log((total - found + 0.5) / (found + 0.5)))
        return rows.map(([, score], index) => [passages[index] ?? 0, score / rarity])
      },
      matching: (expression, limit) => numbersOf(rowIds.all(within + expression, limit)),
    }
  }
}
