import type { OfficeContentNode, OfficeParserAST } from 'officeparser'
import { messageOf } from '../../../../foundation/errors.ts'
import { completed, type ExtractionEnd, type ExtractionSink, partial } from '../extraction.ts'
import { cutInto } from '../passage-cutter.ts'
import { PlaceCutter } from '../place-cutter.ts'
import { ARCHIVE_LIMITS, checkArchive, passwordNeeded } from './check-archive.ts'
import { markdownOf, rowOf } from './markdown.ts'
import { checkRights } from './rights.ts'
import { listEntries, type ZipEntry } from './zip.ts'

const ZIP_SIGNATURE = 'PK\x03\x04'
/** What the parser recommends to its own users. */
const ADVICE = / If you are sure it is fine, please .*$/s
/** What it reports of bytes that it knows no format of. */
const UNKNOWN_FORMAT = /currently supports .* files only/
/** The type that an OpenDocument begins with, of texts that the parser does not take for such: web pages and master documents. */
const OTHER_TEXT = /^PK.{28}mimetypeapplication\/vnd\.oasis\.opendocument\.text-(?:web|master)/s
const TYPE_END = 100
const NO_TEXT = 'The document has no text: only its title is searchable'

/** Extracts a document of Word, PowerPoint, OpenDocument, RTF or EPUB as Markdown. Throws when it is broken or encrypted. */
export async function readOffice(bytes: Buffer, sink: ExtractionSink): Promise<ExtractionEnd> {
  if (bytes.toString('latin1', 0, 4) === ZIP_SIGNATURE) {
    const entries = listEntries(bytes)
    checkArchive(entries)
    await checkRights(bytes, entries)
    if (isOnlyStyles(entries)) return partial(NO_TEXT)
  }
  const ast = await parse(bytes)
  let hasText = false
  const takes = {
    take: (passage: Parameters<ExtractionSink['take']>[0]) => {
      hasText = true
      sink.take(passage)
    },
  }
  const cutter = new PlaceCutter('paragraph', '\n\n', takes)
  for (const [index, node] of allBlocks(ast).entries()) {
    if (node.type === 'slide') takeSlide(node, takes)
    else if (node.type === 'sheet') takeSheet(node, takes)
    else addBlock(cutter, markdownOf(node), index + 1)
    await sink.drain()
  }
  cutter.end()
  const end = hasText ? completed(...lossesOf(ast)) : partial(NO_TEXT)
  return { ...end, textType: 'text/markdown' }
}

/** True for an OpenDocument template that has styles and no content, which the parser would take for a damaged document. */
function isOnlyStyles(entries: readonly ZipEntry[]): boolean {
  const names = new Set(entries.map(({ name }) => name))
  return names.has('META-INF/manifest.xml') && names.has('styles.xml') && !names.has('content.xml')
}

async function parse(bytes: Buffer): Promise<OfficeParserAST> {
  const { OfficeParser } = await import('officeparser')
  try {
    return await OfficeParser.parseOffice(bytes, {
      ...(OTHER_TEXT.test(bytes.toString('latin1', 0, TYPE_END)) && { fileType: 'odt' as const }),
      ignoreInternalLinks: true,
      decompressionLimits: {
        maxUncompressedBytes: ARCHIVE_LIMITS.markupBytes,
        maxZipEntries: ARCHIVE_LIMITS.entries,
        maxXmlElements: MAX_XML_ELEMENTS,
      },
    })
  } catch (error) {
    const message = messageOf(error).replace('[OfficeParser]: ', '').replace(ADVICE, '')
    if (/password|encrypt|decrypt/i.test(message)) throw passwordNeeded()
    if (UNKNOWN_FORMAT.test(message))
      throw new Error('The document cannot be read: its format is another than its name says')
    throw new Error(`The document cannot be read: ${message}`, { cause: error })
  }
}

const MAX_XML_ELEMENTS = 500_000

/** The content, then what stands at the edge of each page. */
function allBlocks({ content, auxiliary }: OfficeParserAST): readonly OfficeContentNode[] {
  return [...content, ...(auxiliary?.headers ?? []), ...(auxiliary?.footers ?? [])]
}

function addBlock(cutter: PlaceCutter, text: string, number: number): void {
  if (text !== '') cutter.add(text, number)
}

function takeSlide(slide: OfficeContentNode, sink: Pick<ExtractionSink, 'take'>): void {
  const number = slide.metadata && 'slideNumber' in slide.metadata ? (slide.metadata.slideNumber ?? 1) : 1
  cutInto(markdownOf(slide), { unit: 'slide', firstUnit: number, lastUnit: number }, sink)
}

function takeSheet(sheet: OfficeContentNode, sink: Pick<ExtractionSink, 'take'>): void {
  const name = sheet.metadata && 'sheetName' in sheet.metadata ? sheet.metadata.sheetName : ''
  const cutter = new PlaceCutter('row', '\n', sink)
  const detail = { sheet: name }
  let isFirst = true
  for (const [index, row] of (sheet.children ?? []).entries()) {
    const text = rowOf(row)
    if (text === '') continue
    if (isFirst) cutter.add(`## ${name}\n`, index + 1, detail)
    cutter.add(text, index + 1, detail)
    isFirst = false
  }
  cutter.end()
}

const LOSS = /LIMIT|TRUNCAT|EXCEED|FAILED|MISSING/

/** What the parser reports as left out. */
function lossesOf({ warnings = [] }: OfficeParserAST): string[] {
  const losses = warnings.filter(({ code }) => LOSS.test(code))
  return losses.slice(0, 3).map(({ message }) => `Not all of it was read: ${message}`)
}
