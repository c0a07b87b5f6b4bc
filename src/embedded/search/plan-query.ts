import { TWINS } from '../analysis/detect-language.ts'
import { FUNCTION_WORDS, isFunctionWord, type Language } from '../analysis/function-words.ts'
import { partsOfName, type Word } from '../analysis/split-words.ts'
import { isEnglishStem, unmarkedStem } from '../analysis/stem-word.ts'
import { type Alternative, alternativesOf, expressionOf } from './alternatives.ts'
import { boundClauses, type Clause, parseQuery } from './parse-query.ts'
import type { Postings } from './postings.ts'

/** A clause with the forms of it that the index has. */
export interface PlannedClause {
  /** FTS5 expression of all alternatives; undefined if no passage has any of them. */
  readonly expression: string | undefined
  readonly alternatives: readonly Alternative[]
  /** How often the query has the clause; a long question is about what it says repeatedly. */
  readonly times: number
  /** True for a part of a compound that is another clause of the plan; a hit with the compound need not have the part by itself. */
  readonly isPart?: boolean
}

/** A word that no document has, and the words that were searched instead. */
export interface Correction {
  readonly written: string
  readonly meant: readonly string[]
}

export interface QueryPlan {
  readonly clauses: readonly PlannedClause[]
  /** FTS5 expression of the excluded clauses; undefined if there are none. */
  readonly excluded: string | undefined
  /** Words of the query that no passage has in any form or similar spelling. */
  readonly unknown: readonly string[]
  readonly corrections: readonly Correction[]
  /** True if the query only excludes words. */
  readonly onlyExcludes: boolean
}

const MAX_SPELLINGS = 4
/** Bounds the corrected words: each takes as long as a whole search, and a long question is answered by its other words. */
const MAX_CORRECTED = 4
const PREFIX_WEIGHT = 0.7
const CORRECTED_WEIGHT = 0.7
/** If more passages than this have a word, it is not also searched as the beginning of others. */
const MAX_PREFIX_PASSAGES = 200
const MIN_PREFIX_LENGTH = 5
/** A query of more clauses shows its language, so only the stems of this language and of English are searched. */
const MAX_SHORT_QUERY = 12

/** Plans a search: finds the forms of each clause that the index has, or similar spellings if it has none. */
export function planQuery(query: string, index: Postings): QueryPlan {
  const { clauses, excluded } = parseQuery(query)
  const corrections: Correction[] = []
  const languages = languagesOf(clauses)
  const times = Map.groupBy(dropFunctionWords(clauses, languages), keyOf)
  const meaningful = boundClauses([...times.values()].flatMap((same) => same.at(-1) ?? []))
  const last = clauses.at(-1)
  const stemmed = meaningful.length > MAX_SHORT_QUERY && languages.length > 1 ? languages : undefined
  const plan = (clause: Clause, isLast: boolean) => ({
    text: clause.text,
    times: times.get(keyOf(clause))?.length ?? 1,
    ...planClause({ clause, isLast, index, corrections, stemmed }),
  })
  const planned = meaningful.flatMap((clause) => {
    const isLast = clause === last
    const parts = partsOf(clause, languages)
    const isElided = hasElision(clause)
    const whole = isElided ? undefined : plan(clause, isLast)
    if (whole && parts.length === 0) return [whole]
    const plannedParts = parts.map((part) => plan(part, isLast && part === parts.at(-1)))
    if (whole?.expression === undefined) return plannedParts
    const found = plannedParts.filter(({ expression }) => expression !== undefined)
    return [...found.map((part) => ({ ...part, isPart: true })), whole]
  })
  const exclusions = boundClauses(excluded).flatMap((clause) => alternativesOf(clause).slice(0, 1).map(expressionOf))
  return {
    clauses: planned,
    excluded: anyOf(exclusions),
    unknown: planned.filter(({ expression }) => expression === undefined).map(({ text }) => text),
    corrections,
    onlyExcludes: clauses.length === 0 && excluded.length > 0,
  }
}

interface ClauseParts {
  readonly clause: Clause
  readonly isLast: boolean
  readonly index: Postings
  readonly corrections: Correction[]
  readonly stemmed: readonly Language[] | undefined
}

function planClause({ clause, isLast, index, corrections, stemmed }: ClauseParts) {
  const isKnown = (alternative: Alternative) => index.isMoreFrequentThan(alternative, 0)
  const written = knownAlternatives(alternativesOf(clause, stemmed), isKnown)
  const mayBeLonger = isLast || written.length === 0
  const longer = mayBeLonger ? longerWords(clause, index, written.length > 0) : []
  const alternatives = [...written, ...longer.filter(isKnown)]
  const mayBeWrong = alternatives.length === 0 && corrections.length < MAX_CORRECTED
  const found = mayBeWrong ? corrected(clause, isKnown, corrections) : alternatives
  return { expression: anyOf(found.map(expressionOf)), alternatives: found }
}

/**
 * Returns the alternatives that the index has, and English stems that it has as words. With these stems, excerpts mark other forms of a
 * word even if every text that has them also has the word itself.
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

/** Returns the clause as the beginning of longer words, because a user may still be typing; nothing if many passages have the word. */
function longerWords({ kind, words }: Clause, index: Postings, isKnown: boolean): Alternative[] {
  const last = words.at(-1)
  if (kind === 'quoted' || !last || last.isPair) return []
  const whole = { words: words.map(({ folded }) => folded), isPrefix: false, weight: PREFIX_WEIGHT }
  return isKnown && index.isMoreFrequentThan(whole, MAX_PREFIX_PASSAGES) ? [] : [{ ...whole, isPrefix: true }]
}

/** Returns words in place of one that no document has: those that differ by one letter, or else those with the longest common beginning. */
function corrected(
  { kind, text, words: [word] }: Clause,
  isKnown: (alternative: Alternative) => boolean,
  corrections: Correction[],
): Alternative[] {
  if (kind !== 'word' || !word || word.isPair || partsOfName(word).length > 0) return []
  const spellings = similarSpellings(word.folded).map((spelling) => ({
    words: [spelling],
    isPrefix: false,
    weight: CORRECTED_WEIGHT,
  }))
  const similar = spellings.filter(isKnown).slice(0, MAX_SPELLINGS)
  const found = similar.length > 0 ? similar : prefixesOf(word.folded).filter(isKnown).slice(0, 1)
  if (found.length > 0) {
    corrections.push({
      written: text,
      meant: found.map(({ words, isPrefix }) => words.join('') + (isPrefix ? '…' : '')),
    })
  }
  return found
}

/** Returns the beginnings of a word of at least MIN_PREFIX_LENGTH letters and two thirds of the word, the longest first. */
function prefixesOf(word: string): Alternative[] {
  const shortest = Math.max(MIN_PREFIX_LENGTH, Math.ceil((word.length * 2) / 3))
  const lengths = Array.from({ length: Math.max(0, word.length - shortest) }, (_, index) => word.length - 1 - index)
  return lengths.map((length) => ({ words: [word.slice(0, length)], isPrefix: true, weight: CORRECTED_WEIGHT }))
}

function anyOf(expressions: readonly string[]): string | undefined {
  return expressions.length === 0 ? undefined : `(${expressions.join(' OR ')})`
}

// Segments of Chinese and Japanese that have no meaning of their own.
const FUNCTION_SEGMENT =
  /^(?:\p{Script=Hiragana}{1,2}|[的了是在和有与及或吗呢]|什么|怎么|如何|怎样|为什么|哪里|どこ|どう|なに|なぜ|です|ます|する)$/u
const MIN_FUNCTION_WORDS = 2
/** Parts of words that French, Italian and English write before or after an apostrophe. */
const ELIDED: ReadonlySet<string> = new Set(
  'c d j l m n s t qu lorsqu puisqu jusqu quoiqu un all dall dell nell sull quell quest dov com re ll ve'.split(' '),
)

/** Drops the function words of these languages, unless the query has no other words. */
function dropFunctionWords(clauses: readonly Clause[], languages: readonly Language[]): readonly Clause[] {
  const meaningful = clauses.filter(({ kind, text, words }) => {
    if (kind === 'compound' && APOSTROPHE.test(text)) return words.some((word) => isMeaningful(word, languages))
    if (kind !== 'word') return true
    if (words.some(({ isPair }) => isPair)) return !FUNCTION_SEGMENT.test(text)
    return words.some(({ small }) => !languages.some((language) => isFunctionWord(small, language)))
  })
  return meaningful.length > 0 ? meaningful : clauses
}

/** Returns a key that is equal for clauses of the same kind with the same words. */
function keyOf({ kind, words }: Clause): string {
  return `${kind} ${words.map(({ folded }) => folded).join(' ')}`
}

const APOSTROPHE = /['’ʼ]/
const JOINING_SIGN = /^[-‐‑'’ʼ]$/

/** Returns the words joined by a hyphen or an apostrophe, each as a clause, without function words, letters and short numbers. */
function partsOf({ kind, text, words }: Clause, languages: readonly Language[]): Clause[] {
  const isJoined = (word: Word, index: number) =>
    index === 0 || JOINING_SIGN.test(text.slice(words[index - 1]?.end, word.start))
  if (kind !== 'compound' || !words.every(isJoined)) return []
  const meaningful = words.filter((word) => isMeaningful(word, languages))
  return meaningful.map((word) => ({ kind: 'word', text: word.source, words: [word] }))
}

/** Returns whether a clause is one word with an elided part before or after it: `l’eau` means `eau`, but `O’Brien` is a name. */
function hasElision({ kind, text, words }: Clause): boolean {
  return kind === 'compound' && APOSTROPHE.test(text) && words.filter(({ small }) => !ELIDED.has(small)).length === 1
}

function isMeaningful({ small, source }: Word, languages: readonly Language[]): boolean {
  const isShort = /^(?:\D|\d{1,3})$/u.test(source)
  return !isShort && !ELIDED.has(small) && !languages.some((language) => isFunctionWord(small, language))
}

/** Returns English and, if the query has several function words of another language, this language and the one it is confused with. */
function languagesOf(clauses: readonly Clause[]): Language[] {
  const counts = [...FUNCTION_WORDS].map(([language, list]) => ({
    language,
    count: clauses.filter(({ words }) => words.some(({ small }) => list.has(small))).length,
  }))
  const likeliest = counts.reduce((one, other) => (other.count > one.count ? other : one))
  if (likeliest.count < MIN_FUNCTION_WORDS) return ['en']
  return ['en', likeliest.language, ...[TWINS[likeliest.language] ?? []].flat()]
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

/** Returns all spellings with one letter swapped, missing, added or replaced; none for short or long words and for numbers. */
function similarSpellings(word: string): string[] {
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
