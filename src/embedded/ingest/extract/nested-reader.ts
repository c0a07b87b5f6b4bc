import type { Passage } from '../../database/tables/passages.ts'
import type { ExtractionEnd, ExtractionSink, ExtractionSource, NestedReader } from './extraction.ts'

/** A message within a message within a message is not read. */
const MAX_DEPTH = 2

/** Reads a part of a document by `read`, and passes on its passages when it has been read. */
export function nestedReader(
  depth: number,
  read: (source: ExtractionSource, sink: ExtractionSink) => Promise<ExtractionEnd>,
): NestedReader {
  return async ({ mimeType, bytes }, sink) => {
    if (depth >= MAX_DEPTH) throw new Error('It lies too deep in other documents')
    let passages: Passage[] = []
    const restart = () => {
      passages = []
    }
    const take = (passage: Passage) => {
      passages.push(passage)
    }
    const source = { mimeType, sizeBytes: bytes.length, chunks: () => [bytes] }
    const end = await read(source, { restart, take, drain: () => {}, nextPart: () => sink.nextPart() })
    for (const passage of passages) sink.take(passage)
    return end
  }
}
