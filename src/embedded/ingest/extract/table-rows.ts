import { parse } from 'csv-parse/sync'

/** The rows of a table, its cells separated by the first of tab, semicolon and comma that the first line has. */
export function parseRows(text: string): string[][] {
  const firstLine = text.slice(0, text.indexOf('\n') + 1)
  const delimiter = ['\t', ';', ','].find((mark) => firstLine.includes(mark)) ?? ','
  return parse(text, { delimiter, relax_quotes: true, relax_column_count: true, skip_empty_lines: true })
}
