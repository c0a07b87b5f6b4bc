import type { Passage } from '../../database/passages-table.ts'
import type { ContentKind, TextKind } from './content-kind.ts'
import {
  completed,
  type ExtractionEnd,
  type ExtractionSink,
  type ExtractionSource,
  guessedEncoding,
  MOSTLY_REPLACED,
  NO_TEXT,
  partial,
  REPLACED_BYTES,
  TABLE_AS_LINES,
  unreadableEncoding,
} from './extraction.ts'
import { PassageSplitter } from './passage-splitter.ts'
import { SeenText, withoutControls } from './seen-text.ts'
import { decodeLeniently, decodeStrictly, guessEncoding, type TextDecoding, UndecodableError } from './text-encoding.ts'

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
  return await readText(source, sink, kind, (firstBytes) => decodeStrictly(firstBytes, source.charset))
}

/** Extracts text as `extractStrictly` does; at an invalid byte guesses the encoding, else replaces faulty bytes (never in an unknown kind). */
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
  const guess = await guessEncoding(source, kind === 'unknown' ? 'unknown' : 'text')
  if (guess?.kind === 'unreadable') return partial(unreadableEncoding(guess.name))
  if (!guess && kind === 'unknown') return completed(NO_TEXT)
  let [letters, replaced] = [0, 0]
  const startDecoding = (): TextDecoding => {
    const decoding = decodeLeniently(guess)
    return {
      decode(bytes, isLast) {
        const text = decoding.decode(bytes, isLast)
        letters += text.match(/\p{L}/gu)?.length ?? 0
        replaced += text.match(/\ufffd/g)?.length ?? 0
        return text
      },
    }
  }
  const end = await readText(source, sink, kind, startDecoding)
  if (replaced > Math.max(1, MAX_REPLACED * (letters + replaced))) {
    sink.restart()
    return kind === 'unknown' ? completed(NO_TEXT) : partial(MOSTLY_REPLACED)
  }
  if (end.status === 'partial') return end
  const guessed = guess && !guess.isDeclared ? [guessedEncoding(guess.name)] : []
  return completed(...end.warnings, ...(replaced > 0 ? [REPLACED_BYTES] : []), ...guessed)
}

/** The share of letters without which a text can still be found and read; one letter is never too many. */
const MAX_REPLACED = 0.1

async function readText(
  source: ExtractionSource,
  sink: ExtractionSink,
  kind: TextKind,
  startDecoding: (firstBytes: Buffer) => TextDecoding,
): Promise<ExtractionEnd> {
  let hasText = false
  const reader = await openTextReader(kind, source, (passage) => {
    hasText = true
    sink.take(passage)
  })
  let decoding: TextDecoding | undefined
  let readBytes = 0
  for await (const bytes of source.chunks()) {
    decoding ??= startDecoding(bytes)
    readBytes += bytes.length
    reader.write(decoding.decode(bytes, readBytes >= source.sizeBytes))
    await sink.drain()
  }
  const warnings = reader.end()
  return kind === 'html' && !hasText ? partial(NO_VISIBLE_TEXT) : completed(...warnings)
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
  { mimeType, sizeBytes }: Pick<ExtractionSource, 'mimeType' | 'sizeBytes'>,
  emit: (passage: Passage) => void,
): Promise<TextReader> {
  if (kind === 'html') return await htmlReader(new PassageSplitter('line', emit))
  if (kind === 'csv' && sizeBytes <= MAX_TABLE_BYTES) return await tableReader(emit)
  return lineReader(mimeType, emit)
}

function lineReader(mimeType: string, emit: (passage: Passage) => void): TextReader {
  const splitter = new PassageSplitter('line', emit)
  const seen = new SeenText(mimeType, (text) => splitter.write(text))
  return {
    write: (text) => seen.write(text),
    end: () => {
      seen.end()
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
      const text = withoutControls(pieces.join(''))
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
 * when the text is not a table.
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
