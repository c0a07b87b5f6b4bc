export type Marks = readonly (readonly [start: number, end: number])[]

/** Scripts that put no blanks between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u

/** Returns where these words are in a text, however they are capitalized. */
export function marksOf(text: string, words: readonly string[]): Marks {
  if (words.length === 0) return []
  // A longer word first, since the first alternative that fits is taken.
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
 * Extends marks to whole words and joins those that meet. A library that indexes pairs of characters also marks pairs within other
 * words of scripts without blanks: these are left out when it marked any such word whole.
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

/** Returns whether marks, in order, leave nothing out of a part of a text. */
function isCovered(start: number, end: number, marks: Marks): boolean {
  const reached = marks.reduce((at, [from, to]) => (from <= at ? Math.max(at, to) : at), start)
  return reached >= end
}

/** Takes out the two asterisks on either side of each mark of an excerpt. */
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
