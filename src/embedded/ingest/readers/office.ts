import type { OfficeContentNode, OfficeParserAST } from 'officeparser'
import { messageOf } from '../../../foundation/errors.ts'
import {
  ARCHIVE_LIMITS,
  checkArchive,
  listEntries,
  passwordNeeded,
  readOpenParagraphs,
  readParagraphs,
  readXmlPart,
  type ZipEntry,
} from './archive.ts'
import { completed, type ExtractionEnd, type ExtractionSink, partial, unreadable } from './extraction.ts'
import { withUsualParts } from './office-parts.ts'
import { PlaceSplitter, splitInto } from './passage-splitter.ts'

const ZIP_SIGNATURE = 'PK\x03\x04'
/** The parser's message for bytes of a format that it does not know. */
const UNKNOWN_FORMAT = /currently supports .* files only|Auto-detection of file type/
/** The type that an OpenDocument begins with, of texts that the parser does not take for such: web pages and master documents. */
const OTHER_TEXT = /^PK.{28}mimetypeapplication\/vnd\.oasis\.opendocument\.text-(?:web|master)/s
const TYPE_END = 100
const NO_TEXT = 'The document has no text: only its title is searchable'

/** Extracts a document of Word, PowerPoint, OpenDocument, RTF or EPUB as Markdown. Throws when it is broken or encrypted. */
export async function readOffice(bytes: Buffer, sink: ExtractionSink): Promise<ExtractionEnd> {
  let entries: readonly ZipEntry[] = []
  if (bytes.toString('latin1', 0, 4) === ZIP_SIGNATURE) {
    entries = listEntries(bytes)
    checkArchive(entries)
    await checkRights(bytes, entries)
    if (isOnlyStyles(entries)) return partial(NO_TEXT)
  }
  const ast = await parse(bytes, entries)
  let hasText = false
  const words = new SeenWords()
  const takes = {
    take: (passage: Parameters<ExtractionSink['take']>[0]) => {
      hasText = true
      words.add(passage.text)
      sink.take(passage)
    },
  }
  const splitter = new PlaceSplitter('paragraph', '\n\n', takes)
  const blocks = allBlocks(ast)
  for (const [index, node] of blocks.entries()) {
    if (node.type === 'slide') takeSlide(node, takes)
    else if (node.type === 'sheet') takeSheet(node, takes)
    else addBlock(splitter, markdownOf(node), index + 1)
    await sink.drain()
  }
  splitter.end()
  let number = blocks.length
  const isOpen = entries.some(({ name }) => name === OPEN_DOCUMENT)
  for (const part of entries.filter(({ name }) => (isOpen ? OPEN_PARTS : PASSED_OVER).test(name))) {
    await (isOpen ? readOpenParagraphs : readParagraphs)(bytes, part, (text) => {
      if (words.hasAll(text)) return
      number += 1
      splitter.add(text, number)
    })
  }
  splitter.end()
  const end = hasText ? completed(...lossesOf(ast)) : partial(NO_TEXT)
  return { ...end, textType: 'text/markdown' }
}

/** Parts of Word and PowerPoint that show words, and that the parser reads only where it knows the part that refers to them. */
const PASSED_OVER =
  /^(?:word|ppt)\/(?:.*\/)?(?:data\d*|chart(?:Ex)?\d*|drawing\d*|comments?\d*|modernComment[\w-]*|notesSlide\d*|footnotes|endnotes|header\d*|footer\d*)\.xml$/i
/** Only an OpenDocument has it. */
const OPEN_DOCUMENT = 'META-INF/manifest.xml'
/** Its text, its headers and footers, its charts and formulas. */
const OPEN_PARTS = /^(?:(?:Object [^/]+\/)?content|styles)\.xml$/
const WORDS = /[\p{L}\p{N}]+/gu

/** Knows which words were taken. */
class SeenWords {
  readonly #words = new Set<string>()

  add(text: string): void {
    for (const word of text.match(WORDS) ?? []) this.#words.add(word)
  }

  hasAll(text: string): boolean {
    return (text.match(WORDS) ?? []).every((word) => this.#words.has(word))
  }
}

/** True for an OpenDocument template that has styles and no content, which the parser would take for a damaged document. */
function isOnlyStyles(entries: readonly ZipEntry[]): boolean {
  const names = new Set(entries.map(({ name }) => name))
  return names.has(OPEN_DOCUMENT) && names.has('styles.xml') && !names.has('content.xml')
}

async function parse(bytes: Buffer, entries: readonly ZipEntry[]): Promise<OfficeParserAST> {
  const { OfficeParser } = await import('officeparser')
  try {
    return await OfficeParser.parseOffice(entries.length === 0 ? withOldBoxes(bytes) : withUsualParts(bytes, entries), {
      ...(OTHER_TEXT.test(bytes.toString('latin1', 0, TYPE_END)) && { fileType: 'odt' as const }),
      ignoreInternalLinks: true,
      decompressionLimits: {
        maxUncompressedBytes: ARCHIVE_LIMITS.markupBytes,
        maxZipEntries: ARCHIVE_LIMITS.entries,
        maxXmlElements: MAX_XML_ELEMENTS,
      },
    })
  } catch (error) {
    throw explain(error)
  }
}

const MAX_XML_ELEMENTS = 500_000
const OLD_BOX = /\{\\\*\\do(?![a-z])/g

/** The parser passes over text boxes of RTF as old programs draw them; newer programs write each box in both forms. */
function withOldBoxes(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1')
  return OLD_BOX.test(text) && !text.includes('\\shptxt')
    ? Buffer.from(text.replace(OLD_BOX, '{\\do'), 'latin1')
    : bytes
}

/** The parser's own texts are for programmers, so users get only the kind of the problem, in our words. */
function explain(error: unknown): Error {
  const message = messageOf(error)
  if (/password|encrypt|decrypt/i.test(message)) return passwordNeeded()
  const what = 'The document cannot be read'
  if (UNKNOWN_FORMAT.test(message)) return unreadable(`${what}: its format is another than its name says`, error)
  if (/\blimit\b/i.test(message)) return unreadable(`${what}: it unpacks to more than is read`, error)
  const [, part] = /missing its required '([\w./-]+)'/.exec(message) ?? []
  return unreadable(part === undefined ? `${what}: it is damaged` : `${what}: its part ${part} is missing`, error)
}

/** Returns the content, then headers and footers. */
function allBlocks({ content, auxiliary }: OfficeParserAST): readonly OfficeContentNode[] {
  return [...content, ...(auxiliary?.headers ?? []), ...(auxiliary?.footers ?? [])]
}

function addBlock(splitter: PlaceSplitter, text: string, number: number): void {
  if (text !== '') splitter.add(text, number)
}

function takeSlide(slide: OfficeContentNode, sink: Pick<ExtractionSink, 'take'>): void {
  const number = slide.metadata && 'slideNumber' in slide.metadata ? (slide.metadata.slideNumber ?? 1) : 1
  splitInto(markdownOf(slide), { unit: 'slide', firstUnit: number, lastUnit: number }, sink)
}

function takeSheet(sheet: OfficeContentNode, sink: Pick<ExtractionSink, 'take'>): void {
  const name = sheet.metadata && 'sheetName' in sheet.metadata ? sheet.metadata.sheetName : ''
  const splitter = new PlaceSplitter('row', '\n', sink)
  const detail = { sheet: name }
  let isFirst = true
  for (const [index, row] of (sheet.children ?? []).entries()) {
    const text = rowOf(row)
    if (text === '') continue
    if (isFirst) splitter.add(`## ${name}\n`, index + 1, detail)
    splitter.add(text, index + 1, detail)
    isFirst = false
  }
  splitter.end()
}

/** What the parser's codes of losses say of the document. */
const LOSSES = [
  [/LIMIT|TRUNCAT|EXCEED/, 'Not all of it was read: it has more than is read'],
  [/FAILED|MISSING/, 'Not all of it was read: a part of it is damaged'],
] as const

/** Returns what the parser reports as left out. */
function lossesOf({ warnings = [] }: OfficeParserAST): string[] {
  return LOSSES.flatMap(([codes, text]) => (warnings.some(({ code }) => codes.test(code)) ? [text] : []))
}

/** A heading, paragraph, table or the like as Markdown, with the notes and comments on it; empty when it has no words. */
function markdownOf(node: OfficeContentNode): string {
  const remarks = remarksOf(node).map((remark) => `> ${inlineOf(remark)}`)
  return [blockOf(node), ...remarks].filter((text) => text.trim() !== '').join('\n\n')
}

/** The notes and comments on a node and on the words in it; those on blocks in it follow these blocks. */
function remarksOf(node: OfficeContentNode): OfficeContentNode[] {
  const isOfBlocks = node.type === 'table' || CONTAINERS.includes(node.type) || hasBlocks(node)
  const inside = isOfBlocks ? [] : (node.children ?? []).flatMap(remarksOf)
  return [...(node.notes ?? []), ...(node.comments ?? []), ...inside]
}

function blockOf(node: OfficeContentNode): string {
  switch (node.type) {
    case 'heading':
      return headed(node.metadata && 'level' in node.metadata ? Number(node.metadata.level) : 1, inlineOf(node))
    case 'list':
      return listItem(node)
    case 'table':
      return tableOf(node.children ?? [])
    case 'code':
      return `\`\`\`\n${node.text ?? ''}\n\`\`\``
    default:
      return CONTAINERS.includes(node.type) || hasBlocks(node) ? blocksOf(node) : inlineOf(node)
  }
}

const CONTAINERS: readonly OfficeContentNode['type'][] = ['slide', 'page', 'sheet', 'admonition', 'definitionList']
const BLOCKS: readonly OfficeContentNode['type'][] = ['heading', 'paragraph', 'table', 'list', 'code']

function hasBlocks({ children = [] }: OfficeContentNode): boolean {
  return children.some(({ type }) => BLOCKS.includes(type))
}

function blocksOf({ children = [] }: OfficeContentNode): string {
  return children
    .map(markdownOf)
    .filter((text) => text !== '')
    .join('\n\n')
}

function headed(level: number, text: string): string {
  const mark = '#'.repeat(Math.min(Math.max(level, 1), 6))
  return text.trim() === '' ? '' : `${mark} ${text.replace(/\s+/g, ' ').trim()}`
}

function listItem(node: OfficeContentNode): string {
  const { listType = 'unordered', indentation = 0 } = node.metadata && 'listType' in node.metadata ? node.metadata : {}
  const text = hasBlocks(node) ? blocksOf(node) : inlineOf(node)
  return text.trim() === ''
    ? ''
    : `${'  '.repeat(Math.min(indentation, 9))}${listType === 'ordered' ? '1.' : '-'} ${text}`
}

/** The first row is the head of the table. */
function tableOf(rows: readonly OfficeContentNode[]): string {
  const lines = rows.map(rowOf).filter((line) => line !== '')
  const columns = Math.max(0, ...rows.map(({ children = [] }) => children.length))
  return lines.length < 2 ? lines.join('\n') : lines.toSpliced(1, 0, `|${' --- |'.repeat(columns)}`).join('\n')
}

/** `| cell | cell |`; empty when no cell has a word. */
function rowOf({ children = [] }: OfficeContentNode): string {
  const cells = children.map((cell) => cellText(markdownOf(cell)))
  return cells.every((cell) => cell === '') ? '' : `| ${cells.join(' | ')} |`
}

export function cellText(text: string): string {
  return text.replace(/\s+/g, ' ').trim().replaceAll('|', '\\|')
}

/** The words of a node and of everything in it; a picture gives its alternative text. */
function inlineOf(node: OfficeContentNode): string {
  if (node.type === 'break') return '\n'
  if (node.type === 'image')
    return node.metadata && 'altText' in node.metadata && node.metadata.altText ? ` ${node.metadata.altText} ` : ''
  if (!node.children || node.children.length === 0) return node.text ?? ''
  return node.children.map(inlineOf).join('')
}

const ENCRYPTION = 'META-INF/encryption.xml'
/** Algorithms by which books make their fonts useless outside of them; the text is open. */
const OBFUSCATION: readonly string[] = ['http://www.idpf.org/2008/embedding', 'http://ns.adobe.com/pdf/enc#RC']

/** Throws when a book (EPUB) names parts that only a reader with the right to it can decrypt. */
async function checkRights(bytes: Buffer, entries: readonly ZipEntry[]): Promise<void> {
  const encryption = entries.find(({ name }) => name === ENCRYPTION)
  if (!encryption) return
  await readXmlPart(bytes, encryption, {
    onOpen: (name, { Algorithm: algorithm }) => {
      if (name !== 'EncryptionMethod' || OBFUSCATION.includes(algorithm ?? '')) return
      throw new Error('The book is encrypted: its seller allows only certain programs to read it')
    },
  })
}
