import { createRequire } from 'node:module'
import { escapeText, truncateText } from '../../foundation/text/safe-text.ts'

const MAX_CELL = 200
const GAP = '  '
const NARROWEST = 6

/** Columns that are never cut: users copy from them, or their words differ only at the end. */
const WHOLE: ReadonlySet<string> = new Set(['id', 'sha256', 'asset', 'ending'])

/** Cells are escaped, since most come from outside. With `width` the widest columns are cut until a row fits. */
export function renderTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  width = Number.POSITIVE_INFINITY,
): string {
  const cells = rows.map((row) => row.map((cell) => escapeText(truncateText(cell, MAX_CELL))))
  const natural = headings.map((heading, column) =>
    Math.max(heading.length, ...cells.map((row) => displayWidth(row[column] ?? ''))),
  )
  const widths = fitColumns(headings, natural, width)
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => padToWidth(truncateToWidth(cell, widths[column] ?? 0), widths[column] ?? 0))
      .join(GAP)
      .trimEnd()
  return [headings.map((heading) => heading.toUpperCase()), ...cells].map(line).join('\n')
}

/** Returns whether the table fits without cutting a cell; true without a width. */
export function fitsTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  width: number | undefined,
): boolean {
  if (width === undefined) return true
  return renderTable(headings, rows)
    .split('\n')
    .every((line) => displayWidth(line) <= width)
}

function fitColumns(headings: readonly string[], natural: readonly number[], width: number): readonly number[] {
  const widths = [...natural]
  let excess = widths.reduce((sum, each) => sum + each, GAP.length * (widths.length - 1)) - width
  while (excess > 0) {
    const widest = headings.reduce((best, heading, column) => {
      if (WHOLE.has(heading) || (widths[column] ?? 0) <= Math.max(NARROWEST, heading.length)) return best
      return best === -1 || (widths[column] ?? 0) > (widths[best] ?? 0) ? column : best
    }, -1)
    if (widest === -1) return widths
    widths[widest] = (widths[widest] ?? 0) - 1
    excess -= 1
  }
  return widths
}

/** Renders `name  value` lines with aligned names; absent values are left out. */
export function renderFields(fields: Readonly<Record<string, string | number | null | undefined>>): string {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null && value !== '')
  const width = Math.max(0, ...present.map(([name]) => displayWidth(name)))
  return present.map(([name, value]) => `${padToWidth(name, width)}  ${escapeText(String(value))}`).join('\n')
}

type StringWidth = (text: string) => number

let stringWidth: StringWidth | undefined

/** Matches text whose characters take one column each. Most text does, so the library that measures the rest is rarely loaded. */
const ONE_COLUMN_EACH = /^[ -~\u00a1-\u02ff\u0370-\u052f\u2010-\u2027→✓✗]*$/

/** An East Asian character or an emoji takes two columns, a combining mark none. */
export function displayWidth(text: string): number {
  if (ONE_COLUMN_EACH.test(text)) return text.length
  stringWidth ??= loadStringWidth()
  return stringWidth(text)
}

/** Cuts no character in half. */
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

/** Returns `text` with blanks after it, so that it takes `columns`. */
export function padToWidth(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - displayWidth(text)))
}

function loadStringWidth(): StringWidth {
  const { default: width }: typeof import('string-width') = createRequire(import.meta.url)('string-width')
  return width
}

/** Keeps a large indent or a narrow terminal from leaving one word per line. */
const MIN_ROOM = 20

/** Indents all lines of a paragraph but the first by `indent` blanks. */
export function wrapText(text: string, width: number, indent = 0): string {
  const room = Math.max(MIN_ROOM, width - indent)
  const paragraphs = text.split('\n\n').map((paragraph) => fillLines(paragraph, room))
  return paragraphs.map((lines) => lines.join(`\n${' '.repeat(indent)}`)).join('\n\n')
}

/** Matches what precedes the text of a line: blanks, and a sign or a label. Further lines are indented by its width. */
const LABEL = /^ *(?:[^ \w"'(/] |[^ ]+(?: [^ ]+){0,3} {2,})?/

/** Further lines begin below the text of the first line. */
export function wrapLines(text: string, width: number): string {
  return text
    .split('\n')
    .map((line) => {
      if (displayWidth(line) <= width) return line
      const found = LABEL.exec(line)?.[0] ?? ''
      const indent = displayWidth(found) > width / 2 ? 2 : Math.max(2, displayWidth(found))
      const start = line.slice(0, Math.min(indent, found.length))
      const lines = fillLines(line.slice(start.length), Math.max(MIN_ROOM, width - indent), / (?=\S)/)
      return start + lines.join(`\n${' '.repeat(indent)}`)
    })
    .join('\n')
}

/** Replaces each of the `gaps` by one blank. */
function fillLines(paragraph: string, room: number, gaps = /\s+/): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of paragraph.split(gaps)) {
    const longer = line === '' ? word : `${line} ${word}`
    if (displayWidth(longer) > room && line !== '') {
      lines.push(line)
      line = word
    } else line = longer
  }
  return [...lines, line]
}
