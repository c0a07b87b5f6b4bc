import { isEnglishStem, unmarkedStem } from '../../analysis/stem-word.ts'
import { type Alternative, alternativesOf, expressionOf } from './alternatives.ts'
import { dropFunctionWords } from './drop-function-words.ts'
import { nearSpellings } from './near-spellings.ts'
import { type Clause, parseQuery } from './parse-query.ts'

/** A clause with what the index has of it. */
export interface PlannedClause {
  /** FTS5 expression of all alternatives; undefined when no passage has any. */
  readonly expression: string | undefined
  readonly alternatives: readonly Alternative[]
}

/** Words that no document has, and those that were looked for instead. */
export interface Correction {
  readonly written: string
  readonly meant: readonly string[]
}

export interface QueryPlan {
  readonly clauses: readonly PlannedClause[]
  /** FTS5 expression of what is excluded. */
  readonly excluded: string | undefined
  readonly corrections: readonly Correction[]
}

/** The questions about the index that planning asks; both take FTS5 expressions. */
export interface IndexLookup {
  exists(expression: string): boolean
  /** True if so many passages have it that its words need no guessing. */
  isCommon(expression: string): boolean
}

const MAX_CORRECTIONS = 4
const MIN_BEGINNING = 5

/** Decides what is looked for: the alternatives of each clause that the index has, and near spellings where it has none. */
export function planQuery(query: string, index: IndexLookup): QueryPlan {
  const { clauses, excluded } = parseQuery(query)
  const corrections: Correction[] = []
  const meaningful = dropFunctionWords(clauses)
  const last = clauses.at(-1)
  const planned = meaningful.map((clause) => planClause(clause, clause === last, index, corrections))
  const exclusions = excluded.flatMap((clause) => alternativesOf(clause).slice(0, 1).map(expressionOf))
  return { clauses: planned, excluded: anyOf(exclusions), corrections }
}

function planClause(clause: Clause, isLast: boolean, index: IndexLookup, corrections: Correction[]): PlannedClause {
  const isKnown = (alternative: Alternative) => index.exists(expressionOf(alternative))
  const written = knownAlternatives(alternativesOf(clause), isKnown)
  const mayBeLonger = isLast || written.length === 0
  const alternatives = mayBeLonger ? [...written, ...longerWords(clause, index).filter(isKnown)] : written
  const found = alternatives.length > 0 ? alternatives : corrected(clause, isKnown, corrections)
  return { expression: anyOf(found.map(expressionOf)), alternatives: found }
}

/**
 * Those that the index has, and English stems that it has as words: an excerpt marks other forms of such a word, too, even where every
 * text with another form has the word itself.
 */
function knownAlternatives(
  alternatives: readonly Alternative[],
  isKnown: (alternative: Alternative) => boolean,
): Alternative[] {
  const known = new Set(alternatives.filter(isKnown))
  const words = new Set([...known].flatMap((alternative) => alternative.words))
  const isWord = (word: string) => isEnglishStem(word) && words.has(unmarkedStem(word))
  return alternatives.filter((alternative) => known.has(alternative) || alternative.words.every(isWord))
}

/** A user who is still typing means the beginning of a word; a word that many passages contain counts as whole. */
function longerWords({ kind, words }: Clause, index: IndexLookup): Alternative[] {
  const last = words.at(-1)
  if (kind === 'quoted' || !last || last.isPair) return []
  const whole = { words: words.map(({ folded }) => folded), isPrefix: false }
  return index.isCommon(expressionOf(whole)) ? [] : [{ ...whole, isPrefix: true }]
}

/** For a word that no document has: words that differ by one letter, otherwise those with the longest common beginning. */
function corrected(
  { kind, text, words: [word] }: Clause,
  isKnown: (alternative: Alternative) => boolean,
  corrections: Correction[],
): Alternative[] {
  if (kind !== 'word' || !word || word.isPair) return []
  const spellings = nearSpellings(word.folded).map((spelling) => ({ words: [spelling], isPrefix: false }))
  const near = spellings.filter(isKnown).slice(0, MAX_CORRECTIONS)
  const known = near.length > 0 ? near : beginningsOf(word.folded).filter(isKnown).slice(0, 1)
  if (known.length > 0) {
    corrections.push({
      written: text,
      meant: known.map(({ words, isPrefix }) => words.join('') + (isPrefix ? '…' : '')),
    })
  }
  return known
}

/** The longest first: at least five letters, and two thirds of the word. */
function beginningsOf(word: string): Alternative[] {
  const shortest = Math.max(MIN_BEGINNING, Math.ceil((word.length * 2) / 3))
  const lengths = Array.from({ length: Math.max(0, word.length - shortest) }, (_, index) => word.length - 1 - index)
  return lengths.map((length) => ({ words: [word.slice(0, length)], isPrefix: true }))
}

function anyOf(expressions: readonly string[]): string | undefined {
  return expressions.length === 0 ? undefined : `(${expressions.join(' OR ')})`
}
