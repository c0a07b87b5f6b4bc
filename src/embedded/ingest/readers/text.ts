import type { Passage } from '../../database/passages.ts'
import type { ContentKind, TextKind } from './content-kind.ts'
import { type Encoding, guessEncoding, startDecoding, UndecodableError } from './encoding.ts'
import {
  completed,
  type ExtractionEnd,
  type ExtractionSink,
  type ExtractionSource,
  guessedEncoding,
  NO_TEXT,
  partial,
  REPLACED_BYTES,
  TABLE_AS_LINES,
} from './extraction.ts'
import { PassageSplitter } from './passage-splitter.ts'

const NO_VISIBLE_TEXT = 'The page has no visible text: only its title is searchable'

/**
 * Extracts text that is valid in its encoding: UTF-8, or UTF-16 with a byte order mark. Throws UndecodableError at the first other
 * byte and at a zero byte.
 */
export async function extractStrictly(
  source: ExtractionSource,
  sink: ExtractionSink,
  kind: TextKind,
): Promise<ExtractionEnd> {
  return await readText(source, sink, kind, { name: undefined, isStrict: true })
}

/** As `extractStrictly`; at an invalid byte guesses the encoding, else replaces faulty bytes (never in an unknown kind). */
export async function extractText(
  source: ExtractionSource,
  sink: ExtractionSink,
  kind: TextKind,
): Promise<ExtractionEnd> {
  try {
    return await extractStrictly(source, sink, kind)
  } catch (error) {
    if (!(error instanceof UndecodableError)) throw error
    sink.restart()
    return await extractInOtherEncoding(source, sink, kind)
  }
}

async function extractInOtherEncoding(
  source: ExtractionSource,
  sink: ExtractionSink,
  kind: TextKind,
): Promise<ExtractionEnd> {
  const guess = await guessEncoding(source)
  if (!guess && kind === 'unknown') return completed(NO_TEXT)
  const end = await readText(source, sink, kind, { name: guess?.name, isStrict: false })
  if (end.status === 'partial' || !guess || guess.isDeclared) return end
  return completed(...end.warnings, guessedEncoding(guess.name))
}

async function readText(
  source: ExtractionSource,
  sink: ExtractionSink,
  kind: TextKind,
  encoding: Encoding,
): Promise<ExtractionEnd> {
  let hasText = false
  let hasReplaced = false
  const reader = await openTextReader(kind, source.sizeBytes, (passage) => {
    hasText = true
    sink.take(passage)
  })
  let decoding: ReturnType<typeof startDecoding> | undefined
  let readBytes = 0
  for await (const bytes of source.chunks()) {
    decoding ??= startDecoding(bytes, encoding)
    readBytes += bytes.length
    const text = decoding.decode(bytes, readBytes >= source.sizeBytes)
    hasReplaced ||= !encoding.isStrict && text.includes('\ufffd')
    reader.write(text)
    await sink.drain()
  }
  const warnings = reader.end()
  if (kind === 'html' && !hasText) return partial(NO_VISIBLE_TEXT)
  return completed(...warnings, ...(hasReplaced ? [REPLACED_BYTES] : []))
}

/** Takes decoded text piece by piece and emits passages of the text that a person would read in it. */
interface TextReader {
  write(text: string): void
  /** Returns warnings about the text. */
  end(): readonly string[]
}

/** A table up to this size is parsed, which needs all of it in memory; a larger one is read as plain lines. */
const MAX_TABLE_BYTES = 1024 * 1024

/** Opens the reader of a kind of content; loads its parser with the first document that needs it. */
async function openTextReader(
  kind: ContentKind,
  sizeBytes: number,
  emit: (passage: Passage) => void,
): Promise<TextReader> {
  if (kind === 'html') return await htmlReader(new PassageSplitter('line', emit))
  if (kind === 'csv' && sizeBytes <= MAX_TABLE_BYTES) return await tableReader(emit)
  return lineReader(emit)
}

function lineReader(emit: (passage: Passage) => void): TextReader {
  const splitter = new PassageSplitter('line', emit)
  return {
    write: (text) => splitter.write(text),
    end: () => {
      splitter.end()
      return []
    },
  }
}

async function htmlReader(splitter: PassageSplitter): Promise<TextReader> {
  const { HtmlTextReader } = await import('./html.ts')
  const html = new HtmlTextReader((text) => splitter.write(text))
  return {
    write: (text) => html.write(text),
    end: () => {
      html.end()
      splitter.end()
      return []
    },
  }
}

/**
 * Emits one line for each row, its cells without quotation marks; a line break inside a cell becomes a space. A table that cannot be
 * parsed (a quote that nothing closes) is read as lines.
 */
async function tableReader(emit: (passage: Passage) => void): Promise<TextReader> {
  const csv = await import('csv-parse/sync')
  const pieces: string[] = []
  return {
    write: (text) => {
      pieces.push(text)
    },
    end: () => {
      const text = pieces.join('')
      const rows = parseRows(text, csv)
      const splitter = new PassageSplitter(rows ? 'row' : 'line', emit)
      if (rows) for (const row of rows) splitter.write(`${row.join(' | ').replace(/\s+/g, ' ')}\n`)
      else splitter.write(text)
      splitter.end()
      return rows ? [] : [TABLE_AS_LINES]
    },
  }
}

/**
 * Parses a table into rows of cells; the delimiter is the first of tab, semicolon and comma that the first line contains. Undefined
 * when the text is no table.
 */
function parseRows(text: string, { CsvError, parse }: typeof import('csv-parse/sync')): string[][] | undefined {
  const firstLine = text.slice(0, text.indexOf('\n') + 1)
  const delimiter = ['\t', ';', ','].find((mark) => firstLine.includes(mark)) ?? ','
  try {
    return parse(text, { delimiter, relax_quotes: true, relax_column_count: true, skip_empty_lines: true })
  } catch (error) {
    if (error instanceof CsvError) return undefined
    throw error
  }
}
