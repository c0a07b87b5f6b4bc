import type { Passage } from '../database/passages-table.ts'
import type { IngestedText } from '../storage/record-upload.ts'
import { type IngestParts, ingestedColumns, NO_PASSAGE } from './ingest-file.ts'
import { createPlaceFinder } from './passage-writer.ts'
import { extractInService } from './readers/extract-in-service.ts'
import { firstStage } from './reading-stages.ts'

/** A small file whose record is not written yet. */
export interface SmallUpload {
  readonly title: string
  readonly mimeType: string
  readonly charset?: string | null | undefined
  readonly content: { readonly bytes: Buffer; readonly sizeBytes: number }
}

/** Preparing this much text for the search takes 2 or 3 ms, during which the service answers no other request. */
const MAX_BYTES = 16 * 1024

/**
 * Reads a text of at most MAX_BYTES and prepares it for the search, so that one transaction both records it and makes it searchable.
 * Undefined for all other files, and for what cannot be read as plain text: the queue reads these.
 */
export async function readAtOnce(
  { tables, limits }: IngestParts,
  { title, mimeType, charset, content }: SmallUpload,
): Promise<IngestedText | undefined> {
  const { bytes, sizeBytes } = content
  if (sizeBytes > MAX_BYTES || firstStage({ mimeType, sizeBytes }) !== 'service') return undefined
  const passages: Passage[] = []
  const sink = {
    restart: () => void passages.splice(0),
    take: (passage: Passage) => void passages.push(passage),
    drain: () => {},
    nextPart: () => {},
  }
  const source = { mimeType, charset, sizeBytes, chunks: () => [bytes] }
  const end = await extractInService(source, sink, limits.maxPassages).catch(() => undefined)
  if (end === undefined || end.status === 'running') return undefined
  const { indexWords } = await import('../analysis/index-words.ts')
  const placeOf = createPlaceFinder((_, offset, length) => bytes.subarray(offset, offset + length))
  const written = (passages.length > 0 ? passages : [NO_PASSAGE]).map((passage, ordinal) => ({
    passage,
    place: placeOf(0, passage.text),
    words: indexWords(ordinal === 0 ? title : '', passage.text, ordinal === 0),
  }))
  return {
    columns: ingestedColumns(mimeType, end),
    writePassages: ({ id, libraryId }) => {
      for (const [ordinal, { passage, place, words }] of written.entries()) {
        tables.passageWords.insert(tables.passages.insert(id, ordinal, passage, place), libraryId, words)
      }
    },
  }
}
