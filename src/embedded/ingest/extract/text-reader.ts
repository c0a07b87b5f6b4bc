import type { Passage } from '../../database/tables/passages.ts'
import type { ContentKind } from './kinds.ts'
import { PassageCutter } from './passage-cutter.ts'

/** Takes decoded text piece by piece and emits passages of the text that a person would read in it. */
export interface TextReader {
  write(text: string): void
  end(): void
}

/** A table up to this size is parsed, which needs all of it in memory; a larger one is read as plain lines. */
const MAX_TABLE_BYTES = 1024 * 1024

/** Opens the reader of a kind of content; loads its parser with the first document that needs it. */
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

/** Emits one line for each row, its cells without quotation marks; a line break inside a cell becomes a space. */
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
