import { parse } from 'csv-parse/sync'

/** Parses a table into rows of cells; the delimiter is the first of tab, semicolon and comma that the first line contains. */
export function parseRows(text: string): string[][] {
  const firstLine = text.slice(0, text.indexOf('\n') + 1)
  const delimiter = ['\t', ';', ','].find((mark) => firstLine.includes(mark)) ?? ','
  return parse(text, { delimiter, relax_quotes: true, relax_column_count: true, skip_empty_lines: true })
}
