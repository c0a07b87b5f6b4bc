import { parse } from 'csv-parse/sync'
import type { Passage } from '../tables/passages.ts'
import { HtmlTextReader } from './html-text.ts'
import type { ContentKind } from './kinds.ts'
import { PassageCutter } from './passage-cutter.ts'

/** Takes decoded text piece by piece and gives passages of what a person would read in it. */
export interface TextReader {
  write(text: string): void
  end(): void
}

/** Tables up to this size are parsed, which needs all of them at once; the lines of larger ones are taken as they are. */
const MAX_TABLE_BYTES = 1024 * 1024

export function openTextReader(kind: ContentKind, sizeBytes: number, emit: (passage: Passage) => void): TextReader {
  if (kind === 'html') return htmlReader(new PassageCutter('line', emit))
  if (kind === 'csv' && sizeBytes <= MAX_TABLE_BYTES) return tableReader(new PassageCutter('row', emit))
  return new PassageCutter('line', emit)
}

function htmlReader(cutter: PassageCutter): TextReader {
  const html = new HtmlTextReader((text) => cutter.write(text))
  return {
    write: (text) => html.write(text),
    end: () => {
      html.end()
      cutter.end()
    },
  }
}

/** One line for each row, its cells without quotation marks; line breaks inside a cell become spaces. */
function tableReader(cutter: PassageCutter): TextReader {
  const pieces: string[] = []
  return {
    write: (text) => {
      pieces.push(text)
    },
    end: () => {
      for (const row of parseRows(pieces.join(''))) cutter.write(`${row.join(' | ').replace(/\s+/g, ' ')}\n`)
      cutter.end()
    },
  }
}

function parseRows(text: string): string[][] {
  const firstLine = text.slice(0, text.indexOf('\n') + 1)
  const delimiter = ['\t', ';', ','].find((mark) => firstLine.includes(mark)) ?? ','
  return parse(text, { delimiter, relax_quotes: true, relax_column_count: true, skip_empty_lines: true })
}
