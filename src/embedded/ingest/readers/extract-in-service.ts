import { isTextKind, kindOf, kindOfText, looksLikeText } from './content-kind.ts'
import {
  completed,
  type ExtractionEnd,
  type ExtractionSink,
  type ExtractionSource,
  FOR_NEXT_STAGE,
  NO_TEXT,
  partial,
  readBounded,
  UNSUPPORTED_FORMAT,
} from './extraction.ts'
import { extractStrictly } from './text.ts'
import { UndecodableError } from './text-encoding.ts'

/**
 * Extracts a small text, or nothing from a kind without text. A document that is not plainly the text
 * that its MIME type names is left to the next stage, which has parsers.
 */
export async function extractInService(
  source: ExtractionSource,
  sink: ExtractionSink,
  maxPassages: number,
): Promise<ExtractionEnd> {
  const kind = kindOf(source.mimeType)
  if (source.sizeBytes === 0) return completed()
  if (!isTextKind(kind)) {
    // Most of these have zero bytes; the next stage looks at the others.
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
