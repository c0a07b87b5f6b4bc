import { TWINS } from '../analysis/detect-language.ts'
import { FUNCTION_WORDS, isFunctionWord, type Language } from '../analysis/function-words.ts'
import { partsOfName, type Word } from '../analysis/split-words.ts'
import { isEnglishStem, unmarkedStem } from '../analysis/stem-word.ts'
import { type Alternative, alternativesOf, expressionOf } from './alternatives.ts'
import { boundClauses, type Clause, parseQuery } from './parse-query.ts'
import type { Postings } from './postings.ts'

/** A clause with what the index has of it. */
export interface PlannedClause {
  /** FTS5 expression of all alternatives; undefined when no passage has any. */
  readonly expression: string | undefined
  readonly alternatives: readonly Alternative[]
  /** How often the query has it: what a long question says more than once, it is about. */
  readonly times: number
  /** True for a part of a compound that is a clause itself: a document with the compound has all without it. */
  readonly isPart?: boolean
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
/** Looking for near spellings takes as long as all else, and a long question is found by its other words. */
const MAX_CORRECTED = 4
const AS_LONGER = 0.7
const AS_CORRECTED = 0.7
/** A word that more passages have needs no guessing how it goes on. */
const COMMON = 200
const MIN_BEGINNING = 5
/** A question of more clauses says by itself which language it is in, and is looked for by the stems of that one and of English. */
const LONG = 12

/** Decides what is looked for: the alternatives of each clause that the index has, and near spellings where it has none. */
export function planQuery(query: string, index: Postings): QueryPlan {
  const { clauses, excluded } = parseQuery(query)
  const corrections: Correction[] = []
  const languages = languagesOf(clauses)
  const times = Map.groupBy(dropFunctionWords(clauses, languages), keyOf)
  const meaningful = boundClauses([...times.values()].flatMap((same) => same.at(-1) ?? []))
  const last = clauses.at(-1)
  const stemmed = meaningful.length > LONG && languages.length > 1 ? languages : undefined
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
    const joining = plannedParts.filter(({ expression }) => expression !== undefined)
    return [...joining.map((part) => ({ ...part, isPart: true })), whole]
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
  return isKnown && index.isMoreFrequentThan(whole, COMMON) ? [] : [{ ...whole, isPrefix: true }]
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
/** What French, Italian and English write before or after an apostrophe. */
const ELIDED: ReadonlySet<string> = new Set(
  'c d j l m n s t qu lorsqu puisqu jusqu quoiqu un all dall dell nell sull quell quest dov com re ll ve'.split(' '),
)

/** Leaves out words without a meaning of their own, unless the query has no others. One English one is enough, others need company. */
function dropFunctionWords(clauses: readonly Clause[], languages: readonly Language[]): readonly Clause[] {
  const meaningful = clauses.filter(({ kind, text, words }) => {
    if (kind === 'compound' && APOSTROPHE.test(text)) return words.some((word) => isMeaningful(word, languages))
    if (kind !== 'word') return true
    if (words.some(({ isPair }) => isPair)) return !FUNCTION_SEGMENT.test(text)
    return words.some(({ small }) => !languages.some((language) => isFunctionWord(small, language)))
  })
  return meaningful.length > 0 ? meaningful : clauses
}

/** The same for clauses that mean the same. */
function keyOf({ kind, words }: Clause): string {
  return `${kind} ${words.map(({ folded }) => folded).join(' ')}`
}

const APOSTROPHE = /['’ʼ]/
const JOINING_SIGN = /^[-‐‑'’ʼ]$/

/** The words that a hyphen or an apostrophe joins, each as a clause of its own; no articles before an apostrophe, single letters or short numbers. */
function partsOf({ kind, text, words }: Clause, languages: readonly Language[]): Clause[] {
  const isJoined = (word: Word, index: number) =>
    index === 0 || JOINING_SIGN.test(text.slice(words[index - 1]?.end, word.start))
  if (kind !== 'compound' || !words.every(isJoined)) return []
  const meaningful = words.filter((word) => isMeaningful(word, languages))
  return meaningful.map((word) => ({ kind: 'word', text: word.source, words: [word] }))
}

/** True for one word beside what is never written without an apostrophe: `l’eau` means `eau`, but `O’Brien` is a name. */
function hasElision({ kind, text, words }: Clause): boolean {
  return kind === 'compound' && APOSTROPHE.test(text) && words.filter(({ small }) => !ELIDED.has(small)).length === 1
}

function isMeaningful({ small, source }: Word, languages: readonly Language[]): boolean {
  const isShort = /^(?:\D|\d{1,3})$/u.test(source)
  return !isShort && !ELIDED.has(small) && !languages.some((language) => isFunctionWord(small, language))
}

/** English, and the language that most of the function words are of, with the one that is nearly the same. */
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
