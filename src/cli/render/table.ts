import { escapeText, truncateText } from '../../foundation/text.ts'

const MAX_CELL = 200

/** Rows under headings, columns aligned; cells are escaped, since most come from outside. */
export function renderTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map((cell) => escapeText(truncateText(cell, MAX_CELL))))
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...cells.map((row) => row[column]?.length ?? 0)),
  )
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  return [headings.map((heading) => heading.toUpperCase()), ...cells].map(line).join('\n')
}

/** `name  value` lines, names aligned; absent values are left out. */
export function renderFields(fields: Readonly<Record<string, string | number | null | undefined>>): string {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null && value !== '')
  const width = Math.max(0, ...present.map(([name]) => name.length))
  return present.map(([name, value]) => `${name.padEnd(width)}  ${escapeText(String(value))}`).join('\n')
}
