import { contentTypeOf } from './content-kind.ts'
import { extractText } from './extract-text.ts'
import { completed, type ExtractionEnd, type ExtractionSink, type ExtractionSource } from './extraction.ts'
import { NO_TEXT } from './extraction-warnings.ts'

/** Reads any document, by what its bytes are. Throws when it is broken. */
export async function readDocument(source: ExtractionSource, sink: ExtractionSink): Promise<ExtractionEnd> {
  if (source.sizeBytes === 0) return completed()
  const { kind } = await contentTypeOf(source)
  if (kind === 'other') return completed(NO_TEXT)
  return await extractText(source, sink, kind)
}
