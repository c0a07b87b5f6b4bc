import { languagesOf, scriptOf } from '../analysis/detect-language.ts'
import { splitWords, type Word } from '../analysis/split-words.ts'
import { stemWord } from '../analysis/stem-word.ts'
import type { PlannedClause } from './plan-query.ts'

interface Mark {
  readonly start: number
  readonly end: number
  readonly clause: number
}

const LENGTH = 320
const LEAD = 60
const BEGINNING = 2
/** Languages whose stems leave out prefixes. */
const CHANGES_BEGINNINGS: ReadonlySet<string> = new Set(['id', 'ar', 'he', 'hi'])

/** Returns the part of the text that a word marks and the clause that the word answers; undefined when it answers none. */
type WordMatcher = (word: Word) => Mark | undefined

/** A part of a text on one line; each mark is where a matching word begins and ends in it, without its asterisks. */
export interface Excerpt {
  readonly excerpt: string
  readonly marks: [start: number, end: number][]
}

/** The part of a passage in which most of the clauses are, with their words in `**…**`. */
export function excerptOf(text: string, clauses: readonly PlannedClause[]): Excerpt {
  const matches = matcherOf(clauses)
  const marks = splitWords(text).flatMap((word) => matches(word) ?? [])
  const first = marks[startOfBest(marks)]
  const start = first === undefined || first.end <= LENGTH ? 0 : wordStart(text, first.start - LEAD)
  const end = start + LENGTH >= text.length ? text.length : wordStart(text, start + LENGTH)
  const inside = joinMarks(marks.filter((mark) => mark.start >= start && mark.end <= end))
  return withMarks(text, start, end, inside)
}

function matcherOf(clauses: readonly PlannedClause[]): WordMatcher {
  const known = new Map<string, number>()
  const beginnings: [string, number][] = []
  for (const [clause, { alternatives }] of clauses.entries()) {
    for (const { words, isPrefix } of alternatives) {
      for (const word of words) if (!known.has(word)) known.set(word, clause)
      const last = words.at(-1)
      if (isPrefix && last !== undefined) beginnings.push([last, clause])
    }
  }
  const clauseOfForm = stemMatcher([...known].filter(([word]) => word.includes('~')))
  return (word) => {
    const { start, end, folded, isPair } = word
    const exact = known.get(folded)
    if (exact !== undefined) return { start, end, clause: exact }
    const [beginning, clause] = beginnings.find(([each]) => folded.startsWith(each)) ?? []
    // Of a pair that begins with the character that is looked for, the other one is left alone.
    if (beginning !== undefined && clause !== undefined) {
      return { start, end: isPair ? start + beginning.length : end, clause }
    }
    const formOf = isPair ? undefined : clauseOfForm(word)
    return formOf === undefined ? undefined : { start, end, clause: formOf }
  }
}

/** Returns a function that finds the clause with a stem of the word, or of the end of a compound. */
function stemMatcher(stems: readonly (readonly [stem: string, clause: number])[]) {
  const clauses = new Map(stems)
  const languages = new Map(stems.map(([stem]) => [languageOf(stem), beginningsIn(stems, languageOf(stem))]))
  return ({ source, small, folded }: Word): number | undefined => {
    const script = scriptOf(source)
    if (script === undefined || stems.length === 0) return undefined
    for (const language of languagesOf(script)) {
      // To look for the beginning of a stem takes a small part of the time that stemming takes.
      if (!languages.get(language)?.some((beginning) => folded.includes(beginning))) continue
      const stem = stemWord(small, language)
      const clause = clauses.get(stem) ?? stems.find(([each]) => stem.endsWith(each))?.[1]
      if (clause !== undefined) return clause
    }
    return undefined
  }
}

/** The beginnings that a stemmer leaves alone, of the stems of one language: any word that has the stem has its beginning. */
function beginningsIn(stems: readonly (readonly [stem: string, clause: number])[], language: string): string[] {
  const letters = CHANGES_BEGINNINGS.has(language) ? 0 : BEGINNING
  const ofLanguage = stems.filter(([stem]) => languageOf(stem) === language)
  return [...new Set(ofLanguage.map(([stem]) => stem.slice(0, Math.min(letters, stem.indexOf('~') - 1))))]
}

function languageOf(stem: string): string {
  return stem.slice(stem.indexOf('~') + 1)
}

/** The index of the mark with which the window begins that has the most clauses, then the most marks. */
function startOfBest(marks: readonly Mark[]): number {
  let [best, bestScore] = [0, 0]
  for (const [index, { start }] of marks.entries()) {
    const inside = marks.slice(index, index + 40).filter(({ end }) => end - start <= LENGTH - LEAD)
    const score = new Set(inside.map(({ clause }) => clause)).size * 100 + inside.length
    if (score > bestScore) [best, bestScore] = [index, score]
  }
  return best
}

/** Overlapping pairs of characters, and words that only a blank parts, share one mark. */
function joinMarks(marks: readonly Mark[]): Mark[] {
  const joined: Mark[] = []
  for (const mark of marks) {
    const last = joined.at(-1)
    if (last && mark.start <= last.end) joined[joined.length - 1] = { ...last, end: Math.max(last.end, mark.end) }
    else joined.push(mark)
  }
  return joined
}

/** The beginning of the word near `at`, or `at` itself in a text without blanks, never inside a character. */
function wordStart(text: string, at: number): number {
  const blank = text.slice(at, at + LEAD / 2).search(/\s/)
  const start = blank < 0 ? at : at + blank + 1
  return /[\udc00-\udfff]/.test(text.charAt(start)) ? start + 1 : start
}

function withMarks(text: string, start: number, end: number, inside: readonly Mark[]): Excerpt {
  const marks: Excerpt['marks'] = []
  let [excerpt, at] = [start > 0 ? '… ' : '', start]
  const add = (to: number) => {
    const part = text.slice(at, to).replace(/\s+/g, ' ')
    excerpt += /^$| $/.test(excerpt) ? part.trimStart() : part
    at = to
  }
  for (const mark of inside) {
    add(mark.start)
    excerpt += '**'
    const from = excerpt.length
    add(mark.end)
    marks.push([from, excerpt.length])
    excerpt += '**'
  }
  add(end)
  return { excerpt: excerpt.trimEnd() + (end < text.length ? ' …' : ''), marks }
}
