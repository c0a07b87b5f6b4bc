import { languagesOf, scriptOf } from '../analysis/detect-language.ts'
import { isCompounding } from '../analysis/further-forms.ts'
import { hasPairedScript, runsOf, splitWords, type Word } from '../analysis/split-words.ts'
import { stemWord } from '../analysis/stem-word.ts'
import type { Alternative } from './alternatives.ts'
import type { PlannedClause } from './plan-query.ts'

/** Where a text has the words of a clause. */
export interface Mark {
  readonly start: number
  readonly end: number
  /** Its index in the plan. */
  readonly clause: number
}

/** Returns where a text has words of the query, in order. */
export type MatchWords = (text: string) => readonly Mark[]

/** Languages whose stems leave out prefixes. */
const CHANGES_BEGINNINGS: ReadonlySet<string> = new Set(['id', 'ar', 'he', 'hi'])
/** The letters at the beginning of a word that stemmers of other languages leave alone. */
const UNCHANGED = 2

const SIMPLE = /^[A-Za-z0-9]+$/
const NONE: readonly Mark[] = []

/** What of a word answers a clause: `length` characters, all when undefined. */
interface Match {
  readonly clause: number
  readonly length?: number | undefined
}

/** Pairs of characters match only together, since each of them is in many other words. */
interface PairPhrase extends Match {
  readonly pairs: readonly string[]
}

export function wordMatcher(clauses: readonly PlannedClause[]): MatchWords {
  const phrases = pairPhrasesOf(clauses)
  const { matchWord, mayMatch } = singleWordMatcher(clauses)
  const matchRun = (run: string): readonly Mark[] => {
    // Most words of a text end here, in a tenth of the time.
    if (SIMPLE.test(run) && !mayMatch(run.toLowerCase())) return NONE
    const words = splitWords(run)
    return words.flatMap((word, index) => {
      const { start, end, isPair } = word
      const phrase = isPair ? phraseAt(words, index, phrases.get(word.folded)) : undefined
      if (phrase) return [{ start, end: words[index + phrase.pairs.length - 1]?.end ?? end, clause: phrase.clause }]
      const match = matchWord(word)
      return match ? [{ start, end: start + (match.length ?? end - start), clause: match.clause }] : []
    })
  }
  // The same words stand in text after text.
  const known = new Map<string, readonly Mark[]>()
  return (text) => {
    const marks: Mark[] = []
    for (const { 0: run, index } of runsOf(text)) {
      const found = known.get(run) ?? matchRun(run)
      known.set(run, found)
      for (const { start, end, clause } of found) marks.push({ start: index + start, end: index + end, clause })
    }
    return marks
  }
}

function phraseAt(words: readonly Word[], at: number, phrases: readonly PairPhrase[] = []): PairPhrase | undefined {
  return phrases.find(({ pairs }) => pairs.every((pair, index) => words[at + index]?.folded === pair))
}

/** By their first pair. */
function pairPhrasesOf(clauses: readonly PlannedClause[]): Map<string, PairPhrase[]> {
  const phrases = clauses.flatMap(({ alternatives }, clause) =>
    alternatives.filter(isPairPhrase).map(({ words }) => ({ pairs: words, clause })),
  )
  return Map.groupBy(phrases, ({ pairs }) => pairs[0] ?? '')
}

/** Pairs of one run, each of which begins with the end of the one before. */
function isPairPhrase({ words, isPrefix }: Alternative): boolean {
  const continues = (word: string, index: number) =>
    hasPairedScript(word) && (index === 0 || Array.from(words[index - 1] ?? '').at(-1) === Array.from(word)[0])
  return !isPrefix && words.length > 1 && words.every(continues)
}

function singleWordMatcher(clauses: readonly PlannedClause[]) {
  const known = new Map<string, number>()
  const beginnings: [string, number][] = []
  for (const [clause, { alternatives }] of clauses.entries()) {
    for (const alternative of alternatives) {
      const { words, isPrefix } = alternative
      if (isPairPhrase(alternative)) continue
      for (const word of words) if (!known.has(word)) known.set(word, clause)
      const last = words.at(-1)
      if (isPrefix && last !== undefined) beginnings.push([last, clause])
    }
  }
  const stems = [...known].filter(([word]) => word.includes('~')).map(([stem, clause]) => stemOf(stem, clause))
  const clauseOfForm = stemMatcher(stems)
  const written = [...known.keys(), ...beginnings.map(([word]) => word)].map((word) => `^${escaped(word.slice(0, 2))}`)
  const hint = new RegExp([...new Set([...written, ...stems.map(({ hint }) => hint.source)])].join('|') || '$^')
  const matchWord = (word: Word): Match | undefined => {
    const { folded, isPair } = word
    const exact = known.get(folded)
    if (exact !== undefined) return { clause: exact }
    const [beginning, clause] = beginnings.find(([each]) => folded.startsWith(each)) ?? []
    // Of a pair that begins with the character that is looked for, the other one is left alone.
    if (beginning !== undefined && clause !== undefined)
      return { clause, length: isPair ? beginning.length : undefined }
    const formOf = isPair ? undefined : clauseOfForm(word)
    return formOf === undefined ? undefined : { clause: formOf }
  }
  return { matchWord, mayMatch: (folded: string) => hint.test(folded) }
}

/** A form of a clause that is the stem of a language. */
interface Stem {
  readonly stem: string
  readonly clause: number
  readonly language: string
  /** Matches every word that has the stem, and takes a small part of the time that stemming takes. */
  readonly hint: RegExp
}

function stemOf(stem: string, clause: number): Stem {
  const [word = '', language = ''] = stem.split('~')
  const letters = CHANGES_BEGINNINGS.has(language) ? 0 : Math.min(UNCHANGED, word.length - 1)
  const anchor = isCompounding(language) || letters === 0 ? '' : '^'
  return { stem, clause, language, hint: new RegExp(anchor + escaped(word.slice(0, letters))) }
}

/** Returns a function that finds the clause with a stem of the word, or of the end of a compound. */
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
