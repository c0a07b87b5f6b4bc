import { hasPairedScript, splitWords, type Word } from '../analysis/split-words.ts'

/** A part of a query that a document has or has not. */
export interface Clause {
  /** A quoted clause means its words in this order and form; an unquoted one of several words is such as `e-mail`. */
  readonly kind: 'word' | 'compound' | 'quoted'
  /** The text that the user wrote. */
  readonly text: string
  readonly words: readonly Word[]
}

/** Returns what a search costs, next to others. */
export function costOf(query: string): number {
  const { clauses, excluded } = parseQuery(query)
  return [...boundClauses(clauses), ...boundClauses(excluded)].reduce((sum, { words }) => sum + words.length, 0)
}

interface ParsedQuery {
  readonly clauses: readonly Clause[]
  /** Clauses that no document may have. */
  readonly excluded: readonly Clause[]
}

/** Counted in all clauses, since each word of a phrase or of `a-a-a-…` costs time. */
const MAX_WORDS = 128
/** In one clause: each passage that has all of them is compared position by position. */
const MAX_PHRASE_WORDS = 32
const QUOTES = /[“”„‟«»「」『』＂]/g
/** Made with the first use of it: that takes 10 ms. */
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

/** Leaves out what is more than a search may cost. */
export function boundClauses(clauses: readonly Clause[]): Clause[] {
  let left = MAX_WORDS
  return clauses.flatMap((clause) => {
    const words = clause.words.slice(0, Math.min(left, MAX_PHRASE_WORDS))
    left -= words.length
    return words.length === 0 ? [] : [{ ...clause, words }]
  })
}

function quoted(text: string): Clause[] {
  const words = splitWords(text)
  return words.length === 0 ? [] : [{ kind: 'quoted', text, words }]
}

/** Scripts without blanks are cut into words here, where a dictionary's mistake costs little; the index has their pairs. */
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
 * The text whose meaning a query is about; undefined when it means its words: who quotes or excludes does, and who gives a single
 * word, which is mostly a name.
 */
export function semanticQueryOf(query: string): string | undefined {
  const { clauses, excluded } = parseQuery(query)
  const isLiteral = excluded.length > 0 || clauses.some(({ kind }) => kind === 'quoted')
  if (isLiteral || clauses.length < 2) return undefined
  return query.trim()
}
