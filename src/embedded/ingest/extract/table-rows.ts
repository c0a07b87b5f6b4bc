import { CsvError, parse } from 'csv-parse/sync'

/**
 * Parses a table into rows of cells; the delimiter is the first of tab, semicolon and comma that the first line contains. Undefined
 * when the text is no table.
 */
export function parseRows(text: string): string[][] | undefined {
  const firstLine = text.slice(0, text.indexOf('\n') + 1)
  const delimiter = ['\t', ';', ','].find((mark) => firstLine.includes(mark)) ?? ','
  try {
    return parse(text, { delimiter, relax_quotes: true, relax_column_count: true, skip_empty_lines: true })
  } catch (error) {
    if (error instanceof CsvError) return undefined
    throw error
  }
}
