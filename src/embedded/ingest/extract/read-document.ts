import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { contentTypeOf, isTextKind } from './content-kind.ts'
import { extractText } from './extract-text.ts'
import {
  completed,
  type ExtractionEnd,
  type ExtractionSink,
  type ExtractionSource,
  type NestedReader,
  partial,
  readWhole,
} from './extraction.ts'
import { NO_TEXT, UNSUPPORTED_FORMAT } from './extraction-warnings.ts'
import type { DocumentKind } from './kinds.ts'
import { nestedReader } from './nested-reader.ts'
import type { Recognizer } from './recognize/recognizer.ts'

/** What readers work with. */
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
  pdf: async () => (await import('./pdf/read-pdf.ts')).readPdf,
  office: async () => (await import('./office/read-office.ts')).readOffice,
  workbook: async () => (await import('./workbook/read-workbook.ts')).readWorkbook,
  mail: async () => (await import('./mail/read-mail.ts')).readMail,
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
  if (kind === 'media') return await readMediaOf({ ...source, foundType: mimeType }, sink, tools)
  if (kind === 'picture') {
    const { readPicture } = await import('./picture/read-picture.ts')
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
  const { readMedia } = await import('./media/read-media.ts')
  const types = [source.mimeType, source.foundType]
  if (source.path !== undefined) return await readMedia(source.path, types, sink)
  const path = join(tools.temporaryDir, `media-${process.pid}`)
  await writeFile(path, await readWhole(source), { mode: 0o600 })
  try {
    return await readMedia(path, types, sink)
  } finally {
    await rm(path, { force: true })
  }
}
