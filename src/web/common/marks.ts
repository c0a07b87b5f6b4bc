export type Marks = readonly (readonly [start: number, end: number])[]

/** Matches a character of a script that puts no blanks between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u

/** Returns where these words are in a text, however they are capitalized. */
export function marksOf(text: string, words: readonly string[]): Marks {
  if (words.length === 0) return []
  // Longer words come first, because a regular expression takes the first alternative that fits.
  const patterns = words.toSorted((one, other) => other.length - one.length).map(patternOf)
  const found = text.matchAll(new RegExp(patterns.join('|'), 'giu'))
  return wholeWords(
    text,
    Array.from(found, ({ 0: word, index }) => [index, index + word.length] as const),
  )
}

function patternOf(word: string): string {
  const escaped = word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
  return UNSPACED.test(word) ? escaped : `(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' })

/**
 * Extends marks to whole words; words that one mark spans get one mark. In scripts without blanks, a library that indexes pairs of
 * characters also marks pairs within other words. If it marked any word of such a script whole, words that it marked in part are left out.
 */
export function wholeWords(text: string, marks: Marks): Marks {
  const groups: [number, number][] = []
  for (const { segment, index } of marks.length === 0 ? [] : segmenter.segment(text)) {
    const end = index + segment.length
    if (!marks.some(([from, to]) => from < end && to > index)) continue
    const last = groups.at(-1)
    if (last?.[1] === index && marks.some(([from, to]) => from < index && to > index)) last[1] = end
    else groups.push([index, end])
  }
  const unspaced = groups.filter(([start, end]) => UNSPACED.test(text.slice(start, end)))
  const whole = unspaced.filter(([start, end]) => isCovered(start, end, marks))
  return whole.length === 0 ? groups : groups.filter((group) => whole.includes(group) || !unspaced.includes(group))
}

/** Returns whether marks, sorted by their start, cover the text from `start` to `end`. */
function isCovered(start: number, end: number, marks: Marks): boolean {
  const reached = marks.reduce((at, [from, to]) => (from <= at ? Math.max(at, to) : at), start)
  return reached >= end
}

/** Removes the two asterisks on each side of every mark of an excerpt, and moves the marks accordingly. */
export function withoutAsterisks(excerpt: string, marks: Marks): { readonly text: string; readonly marks: Marks } {
  let text = ''
  let at = 0
  const found = marks.map(([start, end]) => {
    text += excerpt.slice(at, start - 2)
    const from = text.length
    text += excerpt.slice(start, end)
    at = end + 2
    return [from, text.length] as const
  })
  return { text: text + excerpt.slice(at), marks: found }
}
