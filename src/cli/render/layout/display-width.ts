import { createRequire } from 'node:module'

type StringWidth = (text: string) => number

let stringWidth: StringWidth | undefined

/** Text whose every character takes one column: most text, so that the library is rarely loaded. */
const ONE_COLUMN_EACH = /^[ -~\u00a1-\u02ff\u0370-\u052f]*$/

/** The columns that text takes in a terminal: an East Asian character or an emoji takes two, a combining mark none. */
export function displayWidth(text: string): number {
  if (ONE_COLUMN_EACH.test(text)) return text.length
  stringWidth ??= loadStringWidth()
  return stringWidth(text)
}

/** The beginning of `text` that fits `columns`, with a sign that there was more; no character is cut in half. */
export function truncateToWidth(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text
  let kept = ''
  let width = 1
  for (const { segment } of new Intl.Segmenter('en').segment(text)) {
    width += displayWidth(segment)
    if (width > columns) break
    kept += segment
  }
  return `${kept}…`
}

/** `text` with blanks after it, so that it takes `columns`. */
export function padToWidth(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - displayWidth(text)))
}

function loadStringWidth(): StringWidth {
  const { default: width }: typeof import('string-width') = createRequire(import.meta.url)('string-width')
  return width
}
