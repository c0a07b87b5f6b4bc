import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Passage } from '../../database/passages-table.ts'
import { explainMissingReader } from '../../optional-packages.ts'
import { withTemporaryFile } from '../../read-by-program.ts'
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
import { extractText } from './text.ts'

export interface ReadingTools {
  /** Undefined if the next stage reads pictures. */
  readonly recognizer: Recognizer | undefined
  /** A directory for temporary files, which the service empties when it starts. */
  readonly temporaryDir: string
}

type DocumentReader = (
  bytes: Buffer,
  sink: ExtractionSink,
  tools: ReadingTools & { readonly readNested: NestedReader },
) => Promise<ExtractionEnd>

/** Functions that load the reader of a kind and its parser. */
const READERS: Readonly<Record<DocumentKind, () => Promise<DocumentReader>>> = {
  pdf: async () => (await import('./pdf-text-or-scan.ts')).readPdf,
  office: async () => (await import('./office.ts')).readOffice,
  workbook: async () => (await import('./workbook.ts')).readWorkbook,
  mail: async () => (await import('./mail.ts')).readMail,
  compound: async () => (await import('./compound.ts')).readCompound,
}

/** Reads any document by the reader for its kind, which its first bytes tell. Throws if it is broken. */
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
  if (kind === 'gzip') return await readGzip(source, (inner) => readDocument(inner, sink, tools, depth))
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

const MAX_UNPACKED_BYTES = 64 * 2 ** 20
/** The greatest accepted ratio of unpacked to packed bytes. Repetitive text has about 100; gzip can reach 1,000. */
const MAX_RATIO = 250
/** Up to this unpacked size, any ratio is accepted. */
const ANY_RATIO_BYTES = 2 ** 20
const HTML = /^\s*<(?:!doctype\s+html|html)\b/i

/**
 * Reads the file in a gzip (RFC 1952), whose first bytes tell its type. The end is `partial` if the file is too large or another gzip.
 * Throws if the gzip is broken.
 */
async function readGzip(
  source: ExtractionSource,
  read: (inner: ExtractionSource) => Promise<ExtractionEnd>,
): Promise<ExtractionEnd> {
  const maxBytes = Math.min(MAX_UNPACKED_BYTES, Math.max(ANY_RATIO_BYTES, source.sizeBytes * MAX_RATIO))
  const bytes = await unpack(source, maxBytes)
  if (!bytes)
    return partial(`It unpacks to more than ${Math.round(maxBytes / 2 ** 20)} MiB: only its title is searchable`)
  const mimeType = HTML.test(bytes.toString('latin1', 0, 256)) ? 'text/html' : 'application/octet-stream'
  const inner = { mimeType, sizeBytes: bytes.length, chunks: () => [bytes] }
  if ((await contentTypeOf(inner)).kind === 'gzip')
    return partial('It holds another gzip: only its title is searchable')
  return await read(inner)
}

/** Returns the unpacked file; undefined if it has more than `maxBytes`. */
async function unpack(source: ExtractionSource, maxBytes: number): Promise<Buffer | undefined> {
  const packed = await readWhole(source)
  try {
    return await promisify(gunzip)(packed, { maxOutputLength: maxBytes })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE') return undefined
    throw error
  }
}

/** Reads a recording. The programs need the path of a file, so it is written to a temporary file if it has none. */
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

/** The greatest depth of documents within documents: a message in a message in a message is not read. */
const MAX_DEPTH = 2

/** Returns a reader for the documents within a document. It passes on the passages of each only when `read` has finished it. */
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
    const emit = (passage: Passage) => {
      passages.push(passage)
    }
    const source = { mimeType, sizeBytes: bytes.length, chunks: () => [bytes] }
    const end = await read(source, { restart, emit, drain: () => {}, nextPart: () => sink.nextPart() })
    for (const passage of passages) sink.emit(passage)
    return end
  }
}
