import { type Encoding, startDecoding, UndecodableError } from './encoding/text-decoding.ts'
import { completed, type ExtractionEnd, type ExtractionSink, type ExtractionSource, partial } from './extraction.ts'
import { guessedEncoding, NO_TEXT, REPLACED_BYTES } from './extraction-warnings.ts'
import type { TextKind } from './kinds.ts'
import { openTextReader } from './text-reader.ts'

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
  const { guessEncoding } = await import('./encoding/guess-encoding.ts')
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
