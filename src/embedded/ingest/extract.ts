import type { IngestionStatus } from '../../contract/states.ts'
import type { Passage } from '../tables/passages.ts'
import { type ContentKind, kindOf } from './kinds.ts'
import { startDecoding, UndecodableError } from './text-decoding.ts'
import { openTextReader } from './text-reader.ts'

export const NO_TEXT =
  'No text was extracted: this kind of file is kept and can be downloaded, but only its title is searchable'
export const REPLACED_BYTES = 'The text is not valid in its encoding: the faulty bytes were replaced'

export interface ExtractionEnd {
  readonly status: IngestionStatus
  readonly warnings: readonly string[]
}

/** A file in pieces. It may be read a second time. */
export interface ExtractionSource {
  readonly mimeType: string
  readonly sizeBytes: number
  chunks(): AsyncIterable<Buffer> | Iterable<Buffer>
}

export interface ExtractionSink {
  /** Forget what was taken: the file is read again. */
  restart(): void
  take(passage: Passage): void
  /** Awaited between pieces of the file. */
  drain(): Promise<void> | void
}

/** Gets the text out of one file (section 3.1); what it throws ends the resource as `failed`. */
export async function extractText(source: ExtractionSource, sink: ExtractionSink): Promise<ExtractionEnd> {
  const kind = kindOf(source.mimeType)
  if (source.sizeBytes === 0) return { status: 'completed', warnings: [] }
  if (kind === 'binary') return withWarning(NO_TEXT)
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
  const reader = openTextReader(kind, source.sizeBytes, (passage) => sink.take(passage))
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
  return isStrict ? { status: 'completed', warnings: [] } : withWarning(REPLACED_BYTES)
}

function withWarning(warning: string): ExtractionEnd {
  return { status: 'completed_with_warnings', warnings: [warning] }
}
