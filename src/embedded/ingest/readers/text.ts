import type { Passage } from '../../database/passages-table.ts'
import { type ContentKind, isTextKind, kindOf, kindOfText, looksLikeText, type TextKind } from './content-kind.ts'
import {
  completed,
  type ExtractionEnd,
  type ExtractionSink,
  type ExtractionSource,
  FOR_NEXT_STAGE,
  guessedEncoding,
  MOSTLY_REPLACED,
  NO_TEXT,
  partial,
  REPLACED_BYTES,
  readBounded,
  TABLE_AS_LINES,
  UNSUPPORTED_FORMAT,
  unreadableEncoding,
} from './extraction.ts'
import { PassageSplitter } from './passage-splitter.ts'
import { decodeLeniently, decodeStrictly, guessEncoding, type TextDecoding, UndecodableError } from './text-encoding.ts'
import { VisibleText, withoutControls } from './visible-text.ts'

const NO_VISIBLE_TEXT = 'The page has no visible text: only its title is searchable'

/**
 * Extracts a small text, or returns the end of a document of a kind without text. If the bytes are not clearly what the MIME type says,
 * the next stage reads the document.
 */
export async function extractInService(
  source: ExtractionSource,
  sink: ExtractionSink,
  maxPassages: number,
): Promise<ExtractionEnd> {
  const kind = kindOf(source.mimeType)
  if (source.sizeBytes === 0) return completed()
  if (!isTextKind(kind)) {
    // Most files without text have zero bytes; the next stage examines the others.
    for await (const head of source.chunks()) {
      if (!head.includes(0)) return FOR_NEXT_STAGE
      break
    }
    if (kind === 'other') return completed(NO_TEXT)
    return kind === 'unsupported' ? partial(UNSUPPORTED_FORMAT) : FOR_NEXT_STAGE
  }
  let isFirst = true
  for await (const head of source.chunks()) {
    if (!looksLikeText(head) || (isFirst && kindOfText(kind, head) !== kind)) return FOR_NEXT_STAGE
    isFirst = false
  }
  try {
    return await readBounded(sink, maxPassages, (bounded) => extractStrictly(source, bounded, kind))
  } catch (error) {
    if (!(error instanceof UndecodableError)) throw error
    sink.restart()
    return FOR_NEXT_STAGE
  }
}

/**
 * Extracts text. If `extractStrictly` finds an invalid byte, reads it again in the encoding that fits best. If none fits, replaces invalid
 * bytes; a file of the kind `unknown` then counts as one without text.
 */
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

/** Extracts text in UTF-8, or in UTF-16 with a byte order mark. Throws UndecodableError where `decodeStrictly` does. */
async function extractStrictly(source: ExtractionSource, sink: ExtractionSink, kind: TextKind): Promise<ExtractionEnd> {
  return await readText(source, sink, kind, (firstBytes) => decodeStrictly(firstBytes, source.charset))
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

/** The greatest accepted share of letters that were replaced, with which a text can still be found and read; one is always accepted. */
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
    sink.emit(passage)
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

/** Receives decoded text in pieces, and emits the text that a person would see as passages. */
interface TextReader {
  write(text: string): void
  /** Returns warnings about the text. */
  end(): readonly string[]
}

/** Parsing needs the whole table in memory, so a larger one is read as plain lines. */
const MAX_TABLE_BYTES = 1024 * 1024

/** Opens the reader for a kind of content, and loads its parser. */
async function openTextReader(
  kind: ContentKind,
  { mimeType, sizeBytes }: Pick<ExtractionSource, 'mimeType' | 'sizeBytes'>,
  emit: (passage: Passage) => void,
): Promise<TextReader> {
  if (kind === 'csv' && sizeBytes <= MAX_TABLE_BYTES) return await tableReader(emit)
  const splitter = new PassageSplitter('line', emit)
  const onText = (text: string) => splitter.write(text)
  const reader =
    kind === 'html' ? new (await import('./html.ts')).HtmlTextReader(onText) : new VisibleText(mimeType, onText)
  return {
    write: (text) => reader.write(text),
    end: () => {
      reader.end()
      splitter.end()
      return []
    },
  }
}

/**
 * Opens a reader that emits one line for each row: cells without quotation marks, and line breaks in cells as spaces. A table that
 * cannot be parsed, such as one with an unclosed quote, is read as plain lines.
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

/** Returns the rows of a table as cells; undefined if the text is none. The first line's first tab, semicolon or comma delimits. */
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
