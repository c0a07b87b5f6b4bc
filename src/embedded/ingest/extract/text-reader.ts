import type { Passage } from '../../database/tables/passages.ts'
import { TABLE_AS_LINES } from './extraction-warnings.ts'
import type { ContentKind } from './kinds.ts'
import { PassageCutter } from './passage-cutter.ts'

/** Takes decoded text piece by piece and emits passages of the text that a person would read in it. */
export interface TextReader {
  write(text: string): void
  /** Returns warnings about the text. */
  end(): readonly string[]
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
  if (kind === 'csv' && sizeBytes <= MAX_TABLE_BYTES) return await tableReader(emit)
  return lineReader(emit)
}

function lineReader(emit: (passage: Passage) => void): TextReader {
  const cutter = new PassageCutter('line', emit)
  return {
    write: (text) => cutter.write(text),
    end: () => {
      cutter.end()
      return []
    },
  }
}

async function htmlReader(cutter: PassageCutter): Promise<TextReader> {
  const { HtmlTextReader } = await import('./html/html-text.ts')
  const html = new HtmlTextReader((text) => cutter.write(text))
  return {
    write: (text) => html.write(text),
    end: () => {
      html.end()
      cutter.end()
      return []
    },
  }
}

/**
 * Emits one line for each row, its cells without quotation marks; a line break inside a cell becomes a space. A table that cannot be
 * parsed (a quote that nothing closes) is read as lines.
 */
async function tableReader(emit: (passage: Passage) => void): Promise<TextReader> {
  const { parseRows } = await import('./table-rows.ts')
  const pieces: string[] = []
  return {
    write: (text) => {
      pieces.push(text)
    },
    end: () => {
      const text = pieces.join('')
      const rows = parseRows(text)
      const cutter = new PassageCutter(rows ? 'row' : 'line', emit)
      if (rows) for (const row of rows) cutter.write(`${row.join(' | ').replace(/\s+/g, ' ')}\n`)
      else cutter.write(text)
      cutter.end()
      return rows ? [] : [TABLE_AS_LINES]
    },
  }
}
