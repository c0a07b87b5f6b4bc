import { contentTypeOf, isTextKind } from './content-kind.ts'
import { extractText } from './extract-text.ts'
import { completed, type ExtractionEnd, type ExtractionSink, type ExtractionSource, readWhole } from './extraction.ts'
import { NO_TEXT } from './extraction-warnings.ts'
import type { DocumentKind } from './kinds.ts'

type DocumentReader = (bytes: Buffer, sink: ExtractionSink) => Promise<ExtractionEnd>

/** Loads the reader of a kind, and with it the parser, for the first document that needs it. */
const READERS: Readonly<Record<DocumentKind, () => Promise<DocumentReader>>> = {
  pdf: async () => (await import('./pdf/read-pdf.ts')).readPdf,
  office: async () => (await import('./office/read-office.ts')).readOffice,
  workbook: async () => (await import('./workbook/read-workbook.ts')).readWorkbook,
}

/** Reads any document, by what its bytes are. Throws when it is broken. */
export async function readDocument(source: ExtractionSource, sink: ExtractionSink): Promise<ExtractionEnd> {
  if (source.sizeBytes === 0) return completed()
  const { kind } = await contentTypeOf(source)
  if (kind === 'other') return completed(NO_TEXT)
  if (isTextKind(kind)) return await extractText(source, sink, kind)
  const read = await READERS[kind]()
  return await read(await readWhole(source), sink)
}
