import type { OfficeContentNode, OfficeParserAST } from 'officeparser'
import { messageOf } from '../../../foundation/errors.ts'
import {
  ARCHIVE_LIMITS,
  checkArchive,
  listEntries,
  passwordNeeded,
  readOdfParagraphs,
  readParagraphs,
  readPart,
  readXmlPart,
  type ZipEntry,
} from './archive.ts'
import { completed, type ExtractionEnd, type ExtractionSink, partial, unreadable } from './extraction.ts'
import { PieceJoiner, splitInto } from './passage-splitter.ts'

const ZIP_SIGNATURE = 'PK\x03\x04'
/** The parser's message for bytes of a format that it does not know. */
const UNKNOWN_FORMAT = /currently supports .* files only|Auto-detection of file type/
/** The beginning of OpenDocument texts that the parser does not know as texts: web pages and master documents. */
const OTHER_TEXT = /^PK.{28}mimetypeapplication\/vnd\.oasis\.opendocument\.text-(?:web|master)/s
const OTHER_TEXT_BYTES = 100
const NO_TEXT = 'The document has no text: only its title is searchable'

/** Extracts a document of Word, PowerPoint, OpenDocument, RTF or EPUB as Markdown. Throws if it is broken or encrypted. */
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
  const words = new EmittedWords()
  const counting = {
    emit: (passage: Parameters<ExtractionSink['emit']>[0]) => {
      hasText = true
      words.add(passage.text)
      sink.emit(passage)
    },
  }
  const joiner = new PieceJoiner('paragraph', '\n\n', counting)
  const blocks = allBlocks(ast)
  for (const [index, node] of blocks.entries()) {
    if (node.type === 'slide') emitSlide(node, counting)
    else if (node.type === 'sheet') emitSheet(node, counting)
    else addBlock(joiner, markdownOf(node), index + 1)
    await sink.drain()
  }
  joiner.end()
  let number = blocks.length
  const isOdf = entries.some(({ name }) => name === ODF_MANIFEST)
  for (const part of entries.filter(({ name }) => (isOdf ? ODF_PARTS : FURTHER_PARTS).test(name))) {
    await (isOdf ? readOdfParagraphs : readParagraphs)(bytes, part, (text) => {
      if (words.hasAll(text)) return
      number += 1
      joiner.add(text, number)
    })
  }
  joiner.end()
  const end = hasText ? completed(...lossesOf(ast)) : partial(NO_TEXT)
  return { ...end, textType: 'text/markdown' }
}

/** Parts of Word and PowerPoint with visible text. The parser reads each only if it knows the part that refers to it. */
const FURTHER_PARTS =
  /^(?:word|ppt)\/(?:.*\/)?(?:data\d*|chart(?:Ex)?\d*|drawing\d*|comments?\d*|modernComment[\w-]*|notesSlide\d*|footnotes|endnotes|header\d*|footer\d*)\.xml$/i
/** A part that only an OpenDocument has. */
const ODF_MANIFEST = 'META-INF/manifest.xml'
/** The parts of an OpenDocument with its text, headers, footers, charts and formulas. */
const ODF_PARTS = /^(?:(?:Object [^/]+\/)?content|styles)\.xml$/
const WORDS = /[\p{L}\p{N}]+/gu

/** Remembers which words were emitted. */
class EmittedWords {
  readonly #words = new Set<string>()

  add(text: string): void {
    for (const word of text.match(WORDS) ?? []) this.#words.add(word)
  }

  hasAll(text: string): boolean {
    return (text.match(WORDS) ?? []).every((word) => this.#words.has(word))
  }
}

/** Returns whether an OpenDocument is a template that has only styles, which the parser would call damaged. */
function isOnlyStyles(entries: readonly ZipEntry[]): boolean {
  const names = new Set(entries.map(({ name }) => name))
  return names.has(ODF_MANIFEST) && names.has('styles.xml') && !names.has('content.xml')
}

async function parse(bytes: Buffer, entries: readonly ZipEntry[]): Promise<OfficeParserAST> {
  const { OfficeParser } = await import('officeparser')
  try {
    const usual = entries.length === 0 ? withOldBoxes(bytes) : await withUsualParts(bytes, entries)
    return await OfficeParser.parseOffice(usual, {
      ...(OTHER_TEXT.test(bytes.toString('latin1', 0, OTHER_TEXT_BYTES)) && { fileType: 'odt' as const }),
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

/** Renames the text boxes of old programs in RTF, which the parser would skip, unless the document also has them in the new form. */
function withOldBoxes(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1')
  return OLD_BOX.test(text) && !text.includes('\\shptxt')
    ? Buffer.from(text.replace(OLD_BOX, '{\\do'), 'latin1')
    : bytes
}

/** Returns the error for users. The parser's messages are for programmers, so only the kind of the problem is used. */
function explain(error: unknown): Error {
  const message = messageOf(error)
  if (/password|encrypt|decrypt/i.test(message)) return passwordNeeded()
  const what = 'The document cannot be read'
  if (UNKNOWN_FORMAT.test(message)) return unreadable(`${what}: its format is not the one that its name says`, error)
  if (/\blimit\b/i.test(message)) return unreadable(`${what}: it unpacks to more than is read`, error)
  const [, part] = /missing its required '([\w./-]+)'/.exec(message) ?? []
  return unreadable(part === undefined ? `${what}: it is damaged` : `${what}: its part ${part} is missing`, error)
}

/** Returns the blocks of the content, then those of headers and footers. */
function allBlocks({ content, auxiliary }: OfficeParserAST): readonly OfficeContentNode[] {
  return [...content, ...(auxiliary?.headers ?? []), ...(auxiliary?.footers ?? [])]
}

function addBlock(joiner: PieceJoiner, text: string, number: number): void {
  if (text !== '') joiner.add(text, number)
}

function emitSlide(slide: OfficeContentNode, sink: Pick<ExtractionSink, 'emit'>): void {
  const number = slide.metadata && 'slideNumber' in slide.metadata ? (slide.metadata.slideNumber ?? 1) : 1
  splitInto(markdownOf(slide), { unit: 'slide', firstUnit: number, lastUnit: number }, sink)
}

function emitSheet(sheet: OfficeContentNode, sink: Pick<ExtractionSink, 'emit'>): void {
  const name = sheet.metadata && 'sheetName' in sheet.metadata ? sheet.metadata.sheetName : ''
  const joiner = new PieceJoiner('row', '\n', sink)
  const detail = { sheet: name }
  let isFirst = true
  for (const [index, row] of (sheet.children ?? []).entries()) {
    const text = rowOf(row)
    if (text === '') continue
    if (isFirst) joiner.add(`## ${name}\n`, index + 1, detail)
    joiner.add(text, index + 1, detail)
    isFirst = false
  }
  joiner.end()
}

/** The warning for each kind of loss, by the codes of the parser. */
const LOSSES = [
  [/LIMIT|TRUNCAT|EXCEED/, 'Not all of it was read: it has more than is read'],
  [/FAILED|MISSING/, 'Not all of it was read: a part of it is damaged'],
] as const

/** Returns warnings about what the parser reports as lost. */
function lossesOf({ warnings = [] }: OfficeParserAST): string[] {
  return LOSSES.flatMap(([codes, text]) => (warnings.some(({ code }) => codes.test(code)) ? [text] : []))
}

/** Returns a heading, paragraph, table or the like as Markdown, followed by its notes and comments; empty if it has no text. */
function markdownOf(node: OfficeContentNode): string {
  const remarks = remarksOf(node).map((remark) => `> ${inlineOf(remark)}`)
  return [blockOf(node), ...remarks].filter((text) => text.trim() !== '').join('\n\n')
}

/** Returns the notes and comments on a node and on the words in it, but not those on blocks in it, which follow their blocks. */
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

/** Returns a table in Markdown, with its first row as the head. */
function tableOf(rows: readonly OfficeContentNode[]): string {
  const lines = rows.map(rowOf).filter((line) => line !== '')
  const columns = Math.max(0, ...rows.map(({ children = [] }) => children.length))
  return lines.length < 2 ? lines.join('\n') : lines.toSpliced(1, 0, `|${' --- |'.repeat(columns)}`).join('\n')
}

/** Returns `| cell | cell |`; empty if no cell has text. */
function rowOf({ children = [] }: OfficeContentNode): string {
  const cells = children.map((cell) => cellText(markdownOf(cell)))
  return cells.every((cell) => cell === '') ? '' : `| ${cells.join(' | ')} |`
}

export function cellText(text: string): string {
  return text.replace(/\s+/g, ' ').trim().replaceAll('|', '\\|')
}

/** Returns the text of a node and of everything in it; for a picture, its alternative text. */
function inlineOf(node: OfficeContentNode): string {
  if (node.type === 'break') return '\n'
  if (node.type === 'image')
    return node.metadata && 'altText' in node.metadata && node.metadata.altText ? ` ${node.metadata.altText} ` : ''
  if (!node.children || node.children.length === 0) return node.text ?? ''
  return node.children.map(inlineOf).join('')
}

const ENCRYPTION = 'META-INF/encryption.xml'
/** Algorithms that only protect the fonts of a book; its text can be read. */
const OBFUSCATION: readonly string[] = ['http://www.idpf.org/2008/embedding', 'http://ns.adobe.com/pdf/enc#RC']

/** Throws if parts of a book (EPUB) are encrypted, so that only certain programs can read them. */
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

/** Parts with visible text. */
const TEXT_PARTS = /\.(?:xml|xhtml|html?)$/i
/** Parts that the parser reads. */
const PARSED_PARTS = /^mimetype$|\.(?:xml|rels|xht(?:ml)?|html?|opf|ncx|mht(?:ml)?|rtf|txt|docx)$/i
/** Matches parts that have readings (ruby), or a prefix other than `w` for Word's elements. */
const NEEDS_CHANGE =
  /<(?:\w+:)?ruby[\s>]|xmlns(?::(?!w=)\w+)?="http:\/\/(?:schemas\.openxmlformats|purl\.oclc)\.org\/[\w/]{0,99}wordprocessingml\/[\w/]{0,99}main"/i

/**
 * Returns an archive in which the parser finds all words: readings (ruby) do not cut words, Word's elements have the prefix `w`, and names
 * have slashes instead of backslashes. Returns the same archive if nothing has to change.
 */
async function withUsualParts(zip: Buffer, entries: readonly ZipEntry[]): Promise<Buffer> {
  const changed = new Map<string, Buffer>()
  for (const entry of entries.filter(({ name }) => TEXT_PARTS.test(name))) {
    const text = readPart(zip, entry).toString()
    if (NEEDS_CHANGE.test(text)) changed.set(entry.name, Buffer.from(withWholeWords(withUsualPrefix(text))))
  }
  if (changed.size === 0 && entries.every(({ name, storedName }) => name === storedName)) return zip
  const parsed = entries.filter(({ name }) => PARSED_PARTS.test(name))
  const parts = parsed.map((entry) => [entry.name, changed.get(entry.name) ?? readPart(zip, entry)])
  const { zipSync } = await import('fflate')
  return Buffer.from(zipSync(Object.fromEntries(parts), { level: 0 }))
}

const WORD_SPACE = /xmlns(?::(\w+))?="http:\/\/[\w.]{1,99}\/[\w/]{0,99}wordprocessingml\/[\w/]{0,99}main"/

function withUsualPrefix(xml: string): string {
  const [declaration, prefix] = WORD_SPACE.exec(xml) ?? []
  if (declaration === undefined || prefix === 'w') return xml
  if (prefix !== undefined) {
    return xml
      .replace(declaration, `${declaration} ${declaration.replace(`:${prefix}=`, ':w=')}`)
      .replaceAll(new RegExp(`(</?|\\s)${prefix}:`, 'g'), '$1w:')
  }
  return xml
    .replace(declaration, `${declaration} ${declaration.replace('xmlns=', 'xmlns:w=')}`)
    .replace(/(<\/?)(?=[a-z]\w*[\s/>])/gi, '$1w:')
}

const WORD_RUBY = /<w:ruby>((?:(?!<\/?w:ruby>)[\s\S])*)<\/w:ruby>/g
const READING_AND_BASE =
  /^(?:(?!<w:rt>)[\s\S])*<w:rt>((?:(?!<\/w:rt>)[\s\S])*)<\/w:rt>\s*<w:rubyBase>((?:(?!<\/w:rubyBase>)[\s\S])*)<\/w:rubyBase>\s*$/
/** The ends of paragraphs, headings, cells and the like. */
const PAGE_ENDS = /(?=<\/(?:p|h\d|li|td|th|dd|dt|div|body|blockquote)>)/i

/** Moves readings (ruby) to the end of their paragraph, so that they do not cut words. */
function withWholeWords(xml: string): string {
  const inParagraph = (paragraph: string) => {
    if (!paragraph.includes('<w:ruby>')) return paragraph
    const readings: string[] = []
    const whole = paragraph.replace(WORD_RUBY, (ruby, inner: string) => {
      const [, reading, base] = READING_AND_BASE.exec(inner) ?? []
      if (reading === undefined || base === undefined) return ruby
      readings.push(textIn(reading))
      return `</w:r>${base}<w:r>`
    })
    if (readings.length === 0) return paragraph
    return `${whole}<w:r><w:t xml:space="preserve"> (${readings.join(' ')})</w:t></w:r>`
  }
  const inWord = xml.split('</w:p>').map(inParagraph).join('</w:p>')
  const inPage = (part: string) => {
    if (!/<ruby[\s>]/i.test(part)) return part
    const found = part.matchAll(/<rt(?:\s[^<>]*)?>((?:(?!<rt[\s>])[\s\S])*?)<\/rt>/gi)
    const readings = [...found].map(([, reading = '']) => textIn(reading))
    const whole = part
      .replace(/<(rt|rp)(?:\s[^<>]*)?>(?:(?!<\1[\s>])[\s\S])*?<\/\1>/gi, '')
      .replace(/<\/?(?:ruby|rb|rtc)(?:\s[^<>]*)?>/gi, '')
    return readings.length === 0 ? whole : `${whole} (${readings.join(' ')})`
  }
  return inWord.split(PAGE_ENDS).map(inPage).join('')
}

function textIn(markup: string): string {
  return markup.replace(/<[^<>]*>/g, '').trim()
}
