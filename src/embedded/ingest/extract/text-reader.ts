import type { Passage } from '../../database/tables/passages.ts'
import type { ContentKind } from './kinds.ts'
import { PassageCutter } from './passage-cutter.ts'

/** Takes decoded text piece by piece and gives passages of what a person would read in it. */
export interface TextReader {
  write(text: string): void
  end(): void
}

/** Tables up to this size are parsed, which needs all of them at once; the lines of larger ones are taken as they are. */
const MAX_TABLE_BYTES = 1024 * 1024

/** The parser of a kind is loaded with the first document that needs it. */
export async function openTextReader(
  kind: ContentKind,
  sizeBytes: number,
  emit: (passage: Passage) => void,
): Promise<TextReader> {
  if (kind === 'html') return await htmlReader(new PassageCutter('line', emit))
  if (kind === 'csv' && sizeBytes <= MAX_TABLE_BYTES) return await tableReader(new PassageCutter('row', emit))
  return new PassageCutter('line', emit)
}

async function htmlReader(cutter: PassageCutter): Promise<TextReader> {
  const { HtmlTextReader } = await import('./html-text.ts')
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
async function tableReader(cutter: PassageCutter): Promise<TextReader> {
  const { parseRows } = await import('./table-rows.ts')
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
