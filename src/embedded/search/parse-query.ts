import { hasPairedScript, splitWords, type Word } from '../analysis/split-words.ts'

/** A word, a phrase or a compound of a query. A document has it or lacks it as a whole. */
export interface Clause {
  /** `quoted`: only these words in this order and form. `compound`: several words without a blank, such as `e-mail`. */
  readonly kind: 'word' | 'compound' | 'quoted'
  /** The text that the user wrote. */
  readonly text: string
  readonly words: readonly Word[]
}

/** Returns the cost of a search, in units for comparison with other searches. */
export function costOf(query: string): number {
  const { clauses, excluded } = parseQuery(query)
  return [...boundClauses(clauses), ...boundClauses(excluded)].reduce((sum, { words }) => sum + words.length, 0)
}

interface ParsedQuery {
  readonly clauses: readonly Clause[]
  /** Clauses that no hit may have. */
  readonly excluded: readonly Clause[]
}

/** Bounds all clauses together, because each word of a phrase or of `a-a-a-…` takes time. */
const MAX_WORDS = 128
/** Bounds one clause, because its position is checked in each passage that has all of its words. */
const MAX_PHRASE_WORDS = 32
const QUOTES = /[“”„‟«»「」『』＂]/g
/** Created at the first use, because that takes 10 ms. */
let segmenter: Intl.Segmenter | undefined
const PARTS = /(?<=^|\s)([-−])?"([^"]*)(?:"|$)|\S+/gu

/** Reads `"…"` as a phrase, a minus before a word or a phrase as an exclusion, and everything else as words. */
export function parseQuery(query: string): ParsedQuery {
  const clauses: Clause[] = []
  const excluded: Clause[] = []
  for (const [part, minus, phrase] of query.normalize('NFC').replace(QUOTES, '"').matchAll(PARTS)) {
    if (phrase !== undefined) (minus ? excluded : clauses).push(...quoted(phrase))
    else if (/^[-−][\p{L}\p{N}]/u.test(part)) excluded.push(...quoted(part.slice(1)))
    else clauses.push(...unquoted(part))
  }
  return { clauses, excluded }
}

/** Drops words beyond the bounds of a search. */
export function boundClauses(clauses: readonly Clause[]): Clause[] {
  let remaining = MAX_WORDS
  return clauses.flatMap((clause) => {
    const words = clause.words.slice(0, Math.min(remaining, MAX_PHRASE_WORDS))
    remaining -= words.length
    return words.length === 0 ? [] : [{ ...clause, words }]
  })
}

function quoted(text: string): Clause[] {
  const words = splitWords(text)
  return words.length === 0 ? [] : [{ kind: 'quoted', text, words }]
}

/** Splits text without blanks into words by a dictionary. Its mistakes matter little, because the index has pairs of characters. */
function unquoted(text: string): Clause[] {
  if (!hasPairedScript(text)) return clausesOf(text)
  segmenter ??= new Intl.Segmenter('en', { granularity: 'word' })
  return [...segmenter.segment(text)].flatMap(({ segment }) => clausesOf(segment))
}

function clausesOf(text: string): Clause[] {
  const words = splitWords(text)
  if (words.length === 0) return []
  const isWord = words.length === 1 || words.every(({ isPair }) => isPair)
  return [{ kind: isWord ? 'word' : 'compound', text, words }]
}

/**
 * Returns the text to compare by meaning. Returns undefined if a query should match by its words only: if it quotes or excludes some, or
 * is a single word, which is mostly a name.
 */
export function semanticQueryOf(query: string): string | undefined {
  const { clauses, excluded } = parseQuery(query)
  const isLiteral = excluded.length > 0 || clauses.some(({ kind }) => kind === 'quoted')
  if (isLiteral || clauses.length < 2) return undefined
  return query.trim()
}
