import { tmpdir } from 'node:os'
import type { Passage } from '../../../src/embedded/database/passages-table.ts'
import { type ExtractionEnd, readBounded } from '../../../src/embedded/ingest/readers/extraction.ts'
import { readDocument } from '../../../src/embedded/ingest/readers/read-document.ts'

export interface ReadDocument {
  readonly passages: readonly Passage[]
  /** The text of all passages. */
  readonly text: string
  readonly end: ExtractionEnd
}

/** Reads a document as the child process does, but in this process; throws when it is broken. */
export async function readHere(mimeType: string, chunks: readonly Buffer[]): Promise<ReadDocument> {
  let passages: Passage[] = []
  const sink = {
    restart: () => {
      passages = []
    },
    emit: (passage: Passage) => {
      passages.push(passage)
    },
    drain: () => {},
    nextPart: () => {},
  }
  const sizeBytes = chunks.reduce((sum, { length }) => sum + length, 0)
  const source = { mimeType, sizeBytes, chunks: () => chunks }
  const tools = { recognizer: undefined, temporaryDir: tmpdir() }
  const end = await readBounded(sink, 1e6, (bounded) => readDocument(source, bounded, tools))
  return { passages, end, text: passages.map(({ text }) => text).join('\n') }
}
