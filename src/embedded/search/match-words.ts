import { languagesOf, scriptOf } from '../analysis/detect-language.ts'
import { isCompounding } from '../analysis/further-forms.ts'
import { hasPairedScript, runsOf, splitWords, type Word } from '../analysis/split-words.ts'
import { stemWord } from '../analysis/stem-word.ts'
import type { Alternative } from './alternatives.ts'
import type { PlannedClause } from './plan-query.ts'

/** A position at which a text has the words of a clause. */
export interface Mark {
  readonly start: number
  readonly end: number
  /** The index of the clause in the plan. */
  readonly clause: number
}

/** Returns the positions at which a text has words of the query, in ascending order. */
export type MatchWords = (text: string) => readonly Mark[]

/** Languages whose stemmers remove prefixes. */
const PREFIX_LANGUAGES: ReadonlySet<string> = new Set(['id', 'ar', 'he', 'hi'])
/** The number of letters at the beginning of a word that stemmers of other languages never change. */
const UNCHANGED_LETTERS = 2

const ASCII_WORD = /^[A-Za-z0-9]+$/
const NO_MARKS: readonly Mark[] = []

/** A clause that matches the first `length` characters of a word; undefined means the whole word. */
interface Match {
  readonly clause: number
  readonly length?: number | undefined
}

/** Pairs of characters that match only together, because each one alone occurs in many other words. */
interface PairPhrase extends Match {
  readonly pairs: readonly string[]
}

export function wordMatcher(clauses: readonly PlannedClause[]): MatchWords {
  const phrases = pairPhrasesOf(clauses)
  const { matchWord, mayMatch } = singleWordMatcher(clauses)
  const matchRun = (run: string): readonly Mark[] => {
    // Most words of a text are rejected here, in a tenth of the time.
    if (ASCII_WORD.test(run) && !mayMatch(run.toLowerCase())) return NO_MARKS
    const words = splitWords(run)
    return words.flatMap((word, index) => {
      const { start, end, isPair } = word
      const phrase = isPair ? phraseAt(words, index, phrases.get(word.folded)) : undefined
      if (phrase) return [{ start, end: words[index + phrase.pairs.length - 1]?.end ?? end, clause: phrase.clause }]
      const match = matchWord(word)
      return match ? [{ start, end: start + (match.length ?? end - start), clause: match.clause }] : []
    })
  }
  // Caches the marks of each word, because texts have many words in common.
  const cache = new Map<string, readonly Mark[]>()
  return (text) => {
    const marks: Mark[] = []
    for (const { 0: run, index } of runsOf(text)) {
      const found = cache.get(run) ?? matchRun(run)
      cache.set(run, found)
      for (const { start, end, clause } of found) marks.push({ start: index + start, end: index + end, clause })
    }
    return marks
  }
}

function phraseAt(words: readonly Word[], at: number, phrases: readonly PairPhrase[] = []): PairPhrase | undefined {
  return phrases.find(({ pairs }) => pairs.every((pair, index) => words[at + index]?.folded === pair))
}

/** Returns the phrases of pairs in the plan, grouped by their first pair. */
function pairPhrasesOf(clauses: readonly PlannedClause[]): Map<string, PairPhrase[]> {
  const phrases = clauses.flatMap(({ alternatives }, clause) =>
    alternatives.filter(isPairPhrase).map(({ words }) => ({ pairs: words, clause })),
  )
  return Map.groupBy(phrases, ({ pairs }) => pairs[0] ?? '')
}

/** Returns whether an alternative consists of overlapping pairs: each begins with the last character of the one before. */
function isPairPhrase({ words, isPrefix }: Alternative): boolean {
  const continues = (word: string, index: number) =>
    hasPairedScript(word) && (index === 0 || Array.from(words[index - 1] ?? '').at(-1) === Array.from(word)[0])
  return !isPrefix && words.length > 1 && words.every(continues)
}

function singleWordMatcher(clauses: readonly PlannedClause[]) {
  const clauseOfWord = new Map<string, number>()
  const prefixes: [string, number][] = []
  for (const [clause, { alternatives }] of clauses.entries()) {
    for (const alternative of alternatives) {
      const { words, isPrefix } = alternative
      if (isPairPhrase(alternative)) continue
      for (const word of words) if (!clauseOfWord.has(word)) clauseOfWord.set(word, clause)
      const last = words.at(-1)
      if (isPrefix && last !== undefined) prefixes.push([last, clause])
    }
  }
  const stems = [...clauseOfWord].filter(([word]) => word.includes('~')).map(([stem, clause]) => stemOf(stem, clause))
  const clauseOfForm = stemMatcher(stems)
  const words = [...clauseOfWord.keys(), ...prefixes.map(([word]) => word)]
  const written = words.map((word) => `^${escaped(word.slice(0, 2))}`)
  const hint = new RegExp([...new Set([...written, ...stems.map(({ hint }) => hint.source)])].join('|') || '$^')
  const matchWord = (word: Word): Match | undefined => {
    const { folded, isPair } = word
    const exact = clauseOfWord.get(folded)
    if (exact !== undefined) return { clause: exact }
    const [prefix, clause] = prefixes.find(([each]) => folded.startsWith(each)) ?? []
    // If the prefix is the first character of a pair, only this character is marked.
    if (prefix !== undefined && clause !== undefined) return { clause, length: isPair ? prefix.length : undefined }
    const formOf = isPair ? undefined : clauseOfForm(word)
    return formOf === undefined ? undefined : { clause: formOf }
  }
  return { matchWord, mayMatch: (folded: string) => hint.test(folded) }
}

/** A form of a clause that is a stem in one language. */
interface Stem {
  readonly stem: string
  readonly clause: number
  readonly language: string
  /** Matches every word with this stem, and some others, in a small part of the time that stemming takes. */
  readonly hint: RegExp
}

function stemOf(stem: string, clause: number): Stem {
  const [word = '', language = ''] = stem.split('~')
  const letters = PREFIX_LANGUAGES.has(language) ? 0 : Math.min(UNCHANGED_LETTERS, word.length - 1)
  const anchor = isCompounding(language) || letters === 0 ? '' : '^'
  return { stem, clause, language, hint: new RegExp(anchor + escaped(word.slice(0, letters))) }
}

/** Returns a function that finds the clause that has the stem of a word, or the stem of the last part of a compound. */
function stemMatcher(all: readonly Stem[]): (word: Word) => number | undefined {
  const byLanguage = Map.groupBy(all, ({ language }) => language)
  return ({ source, small, folded }) => {
    const script = scriptOf(source)
    if (script === undefined) return undefined
    for (const language of languagesOf(script)) {
      const stems = byLanguage.get(language)
      if (!stems?.some(({ hint }) => hint.test(folded))) continue
      const stem = stemWord(small, language)
      const found = stems.find((each) => each.stem === stem) ?? stems.find((each) => stem.endsWith(each.stem))
      if (found) return found.clause
    }
    return undefined
  }
}

function escaped(letters: string): string {
  return letters.replace(/[^\p{L}\p{N}]/gu, '\\$&')
}
