import type { Passage } from '../../database/passages-table.ts'
import { explainMissingReader } from '../../optional-packages.ts'
import { contentTypeOf, type DocumentKind, isTextKind } from './content-kind.ts'
import {
  completed,
  type ExtractionEnd,
  type ExtractionSink,
  type ExtractionSource,
  type NestedReader,
  NO_TEXT,
  partial,
  readWhole,
  UNSUPPORTED_FORMAT,
} from './extraction.ts'
import type { Recognizer } from './ocr.ts'
import { withTemporaryFile } from './temporary-file.ts'
import { extractText } from './text.ts'

/** The tools of readers. */
export interface ReadingTools {
  /** Undefined where pictures are left to the next stage. */
  readonly recognizer: Recognizer | undefined
  /** Emptied when the service starts. */
  readonly temporaryDir: string
}

type DocumentReader = (
  bytes: Buffer,
  sink: ExtractionSink,
  tools: ReadingTools & { readonly readNested: NestedReader },
) => Promise<ExtractionEnd>

/** Loads the reader of a kind, and with it the parser, for the first document that needs it. */
const READERS: Readonly<Record<DocumentKind, () => Promise<DocumentReader>>> = {
  pdf: async () => (await import('./pdf-text-or-scan.ts')).readPdf,
  office: async () => (await import('./office.ts')).readOffice,
  workbook: async () => (await import('./workbook.ts')).readWorkbook,
  mail: async () => (await import('./mail.ts')).readMail,
  compound: async () => (await import('./compound.ts')).readCompound,
}

/** Reads any document, by what its bytes are. Throws when it is broken. */
export async function readDocument(
  source: ExtractionSource,
  sink: ExtractionSink,
  tools: ReadingTools,
  depth = 0,
): Promise<ExtractionEnd> {
  if (source.sizeBytes === 0) return completed()
  const { mimeType, kind } = await contentTypeOf(source)
  if (kind === 'other') return completed(NO_TEXT)
  if (kind === 'unsupported') return partial(UNSUPPORTED_FORMAT)
  if (isTextKind(kind)) return await extractText(source, sink, kind)
  if (kind === 'gzip') {
    const { readGzip } = await import('./gzip.ts')
    return await readGzip(source, (inner) => readDocument(inner, sink, tools, depth))
  }
  const missing = explainMissingReader(kind)
  if (missing !== undefined) return completed(missing)
  if (kind === 'media') return await readMediaOf({ ...source, foundType: mimeType }, sink, tools)
  if (kind === 'picture') {
    const { readPicture } = await import('./picture.ts')
    return await readPicture(await readWhole(source), mimeType, sink, tools.recognizer)
  }
  const read = await READERS[kind]()
  const readNested = nestedReader(depth, (part, partSink) => readDocument(part, partSink, tools, depth + 1))
  return await read(await readWhole(source), sink, { ...tools, readNested })
}

/** The programs take a file by its path. */
async function readMediaOf(
  source: ExtractionSource & { readonly foundType: string },
  sink: ExtractionSink,
  tools: ReadingTools,
): Promise<ExtractionEnd> {
  const { readMedia } = await import('./media.ts')
  const types = [source.mimeType, source.foundType]
  if (source.path !== undefined) return await readMedia(source.path, types, sink)
  return await withTemporaryFile(await readWhole(source), tools.temporaryDir, (path) => readMedia(path, types, sink))
}

/** A message within a message within a message is not read. */
const MAX_DEPTH = 2

/** Reads a part of a document by `read`, and passes on its passages when it has been read. */
function nestedReader(
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
