import type { IngestionStatus } from '../../../contract/states.ts'
import type { Passage } from '../../database/tables/passages.ts'
import { NO_TEXT, REPLACED_BYTES } from './extraction-warnings.ts'
import { type ContentKind, kindOf } from './kinds.ts'
import { startDecoding, UndecodableError } from './text-decoding.ts'
import { openTextReader } from './text-reader.ts'

/** The final state of one extraction (section 3.1). */
export interface ExtractionEnd {
  readonly status: IngestionStatus
  readonly warnings: readonly string[]
  /** Why it is `partial` or `failed`. */
  readonly failure: string | null
}

/** A file in chunks. `chunks` may be called a second time. */
export interface ExtractionSource {
  readonly mimeType: string
  readonly sizeBytes: number
  chunks(): AsyncIterable<Buffer> | Iterable<Buffer>
}

export interface ExtractionSink {
  /** Discards all passages taken so far, because the file is read again. */
  restart(): void
  take(passage: Passage): void
  /** Awaited between chunks of the file. */
  drain(): Promise<void> | void
}

/** The document has more than `maxPassages` passages. */
class TooMuchTextError extends Error {}

/**
 * Extracts the text of one file. If it has more than `maxPassages` passages, the rest is left out and the end is `partial`. The
 * caller ends the resource as `failed` when this throws.
 */
export async function extractText(
  source: ExtractionSource,
  sink: ExtractionSink,
  maxPassages: number,
): Promise<ExtractionEnd> {
  const kind = kindOf(source.mimeType)
  if (source.sizeBytes === 0) return { status: 'completed', warnings: [], failure: null }
  if (kind === 'binary') return withWarning(NO_TEXT)
  try {
    return await readEitherWay(source, bounded(sink, maxPassages), kind)
  } catch (error) {
    if (!(error instanceof TooMuchTextError)) throw error
    return { status: 'partial', warnings: [], failure: error.message }
  }
}

/** If a byte is invalid in the text's encoding, replaces it (text) or ends without text (a file of an unknown kind). */
async function readEitherWay(
  source: ExtractionSource,
  sink: ExtractionSink,
  kind: ContentKind,
): Promise<ExtractionEnd> {
  try {
    return await readText(source, sink, kind, true)
  } catch (error) {
    if (!(error instanceof UndecodableError)) throw error
    sink.restart()
    return kind === 'unknown' ? withWarning(NO_TEXT) : await readText(source, sink, kind, false)
  }
}

async function readText(
  source: ExtractionSource,
  sink: ExtractionSink,
  kind: ContentKind,
  isStrict: boolean,
): Promise<ExtractionEnd> {
  const reader = await openTextReader(kind, source.sizeBytes, (passage) => sink.take(passage))
  let decoding: ReturnType<typeof startDecoding> | undefined
  let readBytes = 0
  for await (const bytes of source.chunks()) {
    if (kind === 'unknown' && bytes.includes(0)) throw new UndecodableError('A zero byte in what should be text')
    decoding ??= startDecoding(bytes, isStrict)
    readBytes += bytes.length
    reader.write(decoding.decode(bytes, readBytes >= source.sizeBytes))
    await sink.drain()
  }
  reader.end()
  return isStrict ? { status: 'completed', warnings: [], failure: null } : withWarning(REPLACED_BYTES)
}

function bounded(sink: ExtractionSink, maxPassages: number): ExtractionSink {
  let count = 0
  return {
    restart: () => {
      count = 0
      sink.restart()
    },
    take: (passage) => {
      count += 1
      if (count > maxPassages) {
        throw new TooMuchTextError(`Only the first ${maxPassages} passages of the text are searchable`)
      }
      sink.take(passage)
    },
    drain: () => sink.drain(),
  }
}

function withWarning(warning: string): ExtractionEnd {
  return { status: 'completed_with_warnings', warnings: [warning], failure: null }
}
