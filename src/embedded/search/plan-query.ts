import { FUNCTION_WORDS, isFunctionWord, type Language } from '../analysis/function-words.ts'
import { partsOfName } from '../analysis/split-words.ts'
import { isEnglishStem, unmarkedStem } from '../analysis/stem-word.ts'
import { type Alternative, alternativesOf, expressionOf } from './alternatives.ts'
import { type Clause, parseQuery } from './parse-query.ts'
import type { Postings } from './postings.ts'

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
  /** What the user wrote that no passage has, nor anything like it. */
  readonly unknown: readonly string[]
  readonly corrections: readonly Correction[]
  /** True for a query that says only what is excluded. */
  readonly onlyExcludes: boolean
}

const MAX_CORRECTIONS = 4
const AS_LONGER = 0.7
const AS_CORRECTED = 0.7
/** A word that more passages have needs no guessing how it goes on. */
const COMMON = 200
const MIN_BEGINNING = 5

/** Decides what is looked for: the alternatives of each clause that the index has, and near spellings where it has none. */
export function planQuery(query: string, index: Postings): QueryPlan {
  const { clauses, excluded } = parseQuery(query)
  const corrections: Correction[] = []
  const meaningful = dropFunctionWords(clauses)
  const last = clauses.at(-1)
  const planned = meaningful.map((clause) => planClause(clause, clause === last, index, corrections))
  const exclusions = excluded.flatMap((clause) => alternativesOf(clause).slice(0, 1).map(expressionOf))
  return {
    clauses: planned,
    excluded: anyOf(exclusions),
    unknown: meaningful.filter((_, index) => planned[index]?.expression === undefined).map(({ text }) => text),
    corrections,
    onlyExcludes: clauses.length === 0 && excluded.length > 0,
  }
}

function planClause(clause: Clause, isLast: boolean, index: Postings, corrections: Correction[]): PlannedClause {
  const isKnown = (alternative: Alternative) => index.isCommoner(alternative, 0)
  const written = knownAlternatives(alternativesOf(clause), isKnown)
  const mayBeLonger = isLast || written.length === 0
  const longer = mayBeLonger ? longerWords(clause, index, written.length > 0) : []
  const alternatives = [...written, ...longer.filter(isKnown)]
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
function longerWords({ kind, words }: Clause, index: Postings, isKnown: boolean): Alternative[] {
  const last = words.at(-1)
  if (kind === 'quoted' || !last || last.isPair) return []
  const whole = { words: words.map(({ folded }) => folded), isPrefix: false, weight: AS_LONGER }
  return isKnown && index.isCommoner(whole, COMMON) ? [] : [{ ...whole, isPrefix: true }]
}

/** For a word that no document has: words that differ by one letter, otherwise those with the longest common beginning. */
function corrected(
  { kind, text, words: [word] }: Clause,
  isKnown: (alternative: Alternative) => boolean,
  corrections: Correction[],
): Alternative[] {
  if (kind !== 'word' || !word || word.isPair || partsOfName(word).length > 0) return []
  const spellings = nearSpellings(word.folded).map((spelling) => ({
    words: [spelling],
    isPrefix: false,
    weight: AS_CORRECTED,
  }))
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
  return lengths.map((length) => ({ words: [word.slice(0, length)], isPrefix: true, weight: AS_CORRECTED }))
}

function anyOf(expressions: readonly string[]): string | undefined {
  return expressions.length === 0 ? undefined : `(${expressions.join(' OR ')})`
}

// In Chinese and Japanese, what stands between the words that carry the meaning.
const FUNCTION_SEGMENT =
  /^(?:\p{Script=Hiragana}{1,2}|[的了是在和有与及或吗呢]|什么|怎么|如何|怎样|为什么|哪里|どこ|どう|なに|なぜ|です|ます|する)$/u
const MIN_FUNCTION_WORDS = 2

/** Leaves out words without a meaning of their own, unless the query has no others. One English one is enough, others need company. */
function dropFunctionWords(clauses: readonly Clause[]): readonly Clause[] {
  const languages = languagesOf(clauses)
  const meaningful = clauses.filter(({ kind, text, words }) => {
    if (kind !== 'word') return true
    if (words.some(({ isPair }) => isPair)) return !FUNCTION_SEGMENT.test(text)
    const small = words[0]?.small ?? ''
    return !languages.some((language) => isFunctionWord(small, language))
  })
  return meaningful.length > 0 ? meaningful : clauses
}

/** English, and the language that most of the function words are of. */
function languagesOf(clauses: readonly Clause[]): Language[] {
  const counts = [...FUNCTION_WORDS].map(([language, list]) => ({
    language,
    count: clauses.filter(({ words }) => words.some(({ small }) => list.has(small))).length,
  }))
  const likeliest = counts.reduce((one, other) => (other.count > one.count ? other : one))
  return likeliest.count < MIN_FUNCTION_WORDS ? ['en'] : ['en', likeliest.language]
}

const ALPHABETS: readonly (readonly [RegExp, string])[] = [
  [/[a-z]/, 'abcdefghijklmnopqrstuvwxyz'],
  [/[а-я]/, 'абвгдежзийклмнопрстуфхцчшщъыьэюяіїє'],
  [/[α-ω]/, 'αβγδεζηθικλμνξοπρστυφχψω'],
  [/[א-ת]/, 'אבגדהוזחטיכלמנסעפצקרשת'],
  [/[ء-ي]/, 'ابتثجحخدذرزسشصضطظعغفقكلمنهوي'],
]
const MIN_LENGTH = 4
const MAX_LENGTH = 24

/** Every spelling that differs by one letter: two swapped, one too many, one wrong, one missing. None for short words and numbers. */
function nearSpellings(word: string): string[] {
  if (word.length < MIN_LENGTH || word.length > MAX_LENGTH || /\d/.test(word)) return []
  const letters = ALPHABETS.find(([script]) => script.test(word))?.[1] ?? ''
  const spellings = new Set<string>()
  for (let at = 0; at <= word.length; at += 1) {
    const [before, after] = [word.slice(0, at), word.slice(at)]
    if (after.length > 1) spellings.add(before + after.charAt(1) + after.charAt(0) + after.slice(2))
    if (after.length > 0) spellings.add(before + after.slice(1))
    for (const letter of letters) {
      spellings.add(before + letter + after)
      if (after.length > 0) spellings.add(before + letter + after.slice(1))
    }
  }
  spellings.delete(word)
  return [...spellings]
}
