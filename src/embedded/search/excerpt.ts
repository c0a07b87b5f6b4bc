import type { Mark } from './match-words.ts'

const LENGTH = 320
const LEAD = 60

/** A part of a text on one line; each mark is where a matching word begins and ends in it, without its asterisks. */
export interface Excerpt {
  readonly excerpt: string
  readonly marks: [start: number, end: number][]
}

/** The part of a passage in which most of the clauses are, with their words in `**…**`. */
export function excerptOf(text: string, marks: readonly Mark[]): Excerpt {
  const first = marks[startOfBest(marks)]
  const start = first === undefined || first.end <= LENGTH ? 0 : wordStart(text, first.start - LEAD)
  const end = start + LENGTH >= text.length ? text.length : wordStart(text, start + LENGTH)
  const inside = joinMarks(marks.filter((mark) => mark.start >= start && mark.end <= end))
  return withMarks(text, start, end, inside)
}

/** The index of the mark that begins the window with the most clauses, then the most marks. */
function startOfBest(marks: readonly Mark[]): number {
  let [best, bestScore] = [0, 0]
  for (const [index, { start }] of marks.entries()) {
    const inside = marks.slice(index, index + 40).filter(({ end }) => end - start <= LENGTH - LEAD)
    const score = new Set(inside.map(({ clause }) => clause)).size * 100 + inside.length
    if (score > bestScore) [best, bestScore] = [index, score]
  }
  return best
}

/** Joins the marks of overlapping pairs of characters, and of words with one blank between them. */
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
