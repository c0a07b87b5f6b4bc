import { Readable } from 'node:stream'
import { createInflateRaw, inflateRawSync } from 'node:zlib'
import { Parser, type ParserOptions } from 'htmlparser2'

/** A file of an archive, as the central directory describes it. */
export interface ZipEntry {
  /** The path, with slashes between directories. */
  readonly name: string
  /** The path as the archive has it; old programs write backslashes. */
  readonly storedName: string
  readonly isDeflated: boolean
  /** True if the packed bytes are encrypted with a password. */
  readonly isEncrypted: boolean
  readonly packedBytes: number
  /** The unpacked size that the archive declares, which may be wrong. */
  readonly declaredBytes: number
  /** The offset of the local header. */
  readonly start: number
}

const END_SIGNATURE = Buffer.from('PK\x05\x06', 'latin1')
const END_BYTES = 22
const MAX_COMMENT_BYTES = 0xffff
const ENTRY_SIGNATURE = 0x02014b50
const ENTRY_BYTES = 46
const LOCAL_BYTES = 30
const DEFLATED = 8
const ENCRYPTED = 1

/** Returns the files of an archive. Throws if its central directory is missing or broken, as for archives of 4 GiB and more (ZIP64). */
export function listEntries(zip: Buffer): ZipEntry[] {
  const from = Math.max(0, zip.length - END_BYTES - MAX_COMMENT_BYTES)
  const end = zip.subarray(from).lastIndexOf(END_SIGNATURE) + from
  if (end < from || end + END_BYTES > zip.length) throw new Error('The document is damaged: its archive has no end')
  const count = zip.readUInt16LE(end + 10)
  const entries: ZipEntry[] = []
  let at = zip.readUInt32LE(end + 16)
  for (let index = 0; index < count; index += 1) {
    if (at + ENTRY_BYTES > zip.length || zip.readUInt32LE(at) !== ENTRY_SIGNATURE) {
      throw new Error('The document is damaged: the list of its archive is broken')
    }
    const nameBytes = zip.readUInt16LE(at + 28)
    const storedName = zip.toString('utf8', at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes)
    entries.push({
      name: storedName.replaceAll('\\', '/'),
      storedName,
      isEncrypted: (zip.readUInt16LE(at + 8) & ENCRYPTED) > 0,
      isDeflated: zip.readUInt16LE(at + 10) === DEFLATED,
      packedBytes: zip.readUInt32LE(at + 20),
      declaredBytes: zip.readUInt32LE(at + 24),
      start: zip.readUInt32LE(at + 42),
    })
    at += ENTRY_BYTES + nameBytes + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32)
  }
  return entries
}

/** Returns the packed bytes of an entry. Throws if they are not completely within the archive. */
function packedBytesOf(zip: Buffer, { name, start, packedBytes }: ZipEntry): Buffer {
  const isInside = start + LOCAL_BYTES <= zip.length
  const from = isInside ? start + LOCAL_BYTES + zip.readUInt16LE(start + 26) + zip.readUInt16LE(start + 28) : 0
  if (!isInside || from + packedBytes > zip.length) throw new Error(`The document is damaged: "${name}" is cut short`)
  return zip.subarray(from, from + packedBytes)
}

export const ARCHIVE_LIMITS = {
  entries: 10_000,
  /** The sum of all files. */
  unpackedBytes: 1024 * 2 ** 20,
  /** The sum of the files with markup: a parser keeps them as a tree, which takes about 30 times as much memory. */
  markupBytes: 16 * 2 ** 20,
} as const

const MARKUP = /\.(?:xml|rels|xht(?:ml)?|html?|opf|ncx)$/i

/**
 * Throws if the archive is encrypted or exceeds ARCHIVE_LIMITS: a few hundred kilobytes can unpack to gigabytes. `isStreamed` means that
 * markup is read in pieces, and needs no limit of its own.
 */
export function checkArchive(entries: readonly ZipEntry[], isStreamed = false): void {
  if (entries.some(({ isEncrypted }) => isEncrypted)) throw passwordNeeded()
  const { entries: maxEntries, unpackedBytes, markupBytes } = ARCHIVE_LIMITS
  if (entries.length > maxEntries) throw tooLarge(`${entries.length} files`, `${maxEntries}`)
  const all = declaredBytes(entries)
  if (all > unpackedBytes) throw tooLarge(inMiB(all), inMiB(unpackedBytes))
  const markup = isStreamed ? 0 : declaredBytes(entries.filter(({ name }) => MARKUP.test(name)))
  if (markup > markupBytes) throw tooLarge(`${inMiB(markup)} of text`, inMiB(markupBytes))
}

export function passwordNeeded(): Error {
  return new Error('The document is encrypted: reading it requires its password')
}

function declaredBytes(entries: readonly ZipEntry[]): number {
  return entries.reduce((sum, entry) => sum + entry.declaredBytes, 0)
}

function inMiB(bytes: number): string {
  return `${Math.ceil(bytes / 2 ** 20)} MiB`
}

function tooLarge(what: string, max: string): Error {
  return new Error(`The document unpacks to ${what}; at most ${max} are read`)
}

export interface XmlListener {
  onOpen?(name: string, attributes: Readonly<Record<string, string>>): void
  onText?(text: string): void
  onClose?(name: string): void
}

/** How much more than declared a part may unpack to; `checkArchive` has checked the declared sizes. */
const SLACK_BYTES = 1024
/** Deeper elements are refused: each tag takes time in proportion to the number of open elements. No real document has so many. */
export const MAX_XML_DEPTH = 1_000
const XML: ParserOptions = { xmlMode: true, decodeEntities: true }

/** Reads one XML file of an archive in pieces, and awaits `drain` after each. The listener gets names without their prefix. */
export async function readXmlPart(
  zip: Buffer,
  entry: ZipEntry,
  listener: XmlListener,
  drain: () => Promise<void> | void = () => {},
): Promise<void> {
  let depth = 0
  const parser = new Parser(
    {
      onopentag: (name, attributes) => {
        depth += 1
        if (depth > MAX_XML_DEPTH)
          throw new Error(`The document is damaged: "${entry.name}" nests its elements too deep`)
        listener.onOpen?.(localName(name), attributes)
      },
      ontext: (text) => listener.onText?.(text),
      onclosetag: (name) => {
        depth -= 1
        listener.onClose?.(localName(name))
      },
    },
    XML,
  )
  let decoder: InstanceType<typeof TextDecoder> | undefined
  let unpackedBytes = 0
  for await (const chunk of unpack(zip, entry)) {
    unpackedBytes += chunk.length
    if (unpackedBytes > entry.declaredBytes + SLACK_BYTES) {
      throw new Error(`The document is damaged: "${entry.name}" unpacks to more than it declares`)
    }
    decoder ??= new TextDecoder(encodingOf(chunk))
    parser.write(decoder.decode(chunk, { stream: true }))
    await drain()
  }
  parser.end()
}

const TEXT_ELEMENTS = ['t', 'text', 'font', 'div']
const PARAGRAPHS = ['p', 'comment', 'threadedComment', 'textbox']

/** Calls `onText` for each paragraph in a part of an office document. */
export async function readParagraphs(zip: Buffer, part: ZipEntry, onText: (text: string) => void): Promise<void> {
  const open: string[] = []
  let text = ''
  await readXmlPart(zip, part, {
    onOpen: (name) => {
      open.push(name)
    },
    onText: (piece) => {
      if (TEXT_ELEMENTS.includes(open.at(-1) ?? '') && !open.includes('rPh')) text += piece
    },
    onClose: (name) => {
      open.pop()
      if (!PARAGRAPHS.includes(name)) return
      if (text.trim() !== '') onText(text.replace(/\s+/g, ' ').trim())
      text = ''
    },
  })
}

const ODF_PARAGRAPHS = ['p', 'h', 'title', 'desc', 'header-decl', 'footer-decl']
/** Elements that may begin and end within a word. */
const WITHIN_WORDS = /^(?:span|a|meta|ruby|ruby-base|(?:bookmark|change|reference|soft)\b.*)$/
/** Elements whose text programs fill in. */
const FIELDS = ['page-number', 'page-count', 'date', 'time', 'sheet-name', 'file-name', 'note-citation']
const FORM_TEXT = ['form:label', 'form:value', 'form:current-value', 'form:title']

/**
 * Calls `onText` for each paragraph, label and form value in a part of an OpenDocument. In `styles.xml`, these are texts of pages, such
 * as headers, without the placeholders of slides.
 */
export async function readOdfParagraphs(zip: Buffer, part: ZipEntry, onText: (text: string) => void): Promise<void> {
  const isStyles = part.name.endsWith('styles.xml')
  let isShown = !isStyles
  let text = ''
  /** The depth within an element that is skipped; 0 outside of one. */
  let skippedDepth = 0
  await readXmlPart(zip, part, {
    onOpen: (name, attributes) => {
      if (name === 'master-styles') isShown = true
      const isPlaceholder = isStyles && attributes['presentation:class'] !== undefined
      if (skippedDepth > 0 || FIELDS.includes(name) || isPlaceholder) skippedDepth += 1
      if (!WITHIN_WORDS.test(name)) text += ' '
      for (const key of FORM_TEXT) if (isShown && attributes[key]) onText(attributes[key])
    },
    onText: (piece) => {
      if (isShown && skippedDepth === 0) text += piece
    },
    onClose: (name) => {
      if (skippedDepth > 0) skippedDepth -= 1
      if (!ODF_PARAGRAPHS.includes(name)) return
      if (text.trim() !== '') onText(text.replace(/\s+/g, ' ').trim())
      text = ''
    },
  })
}

/** Returns the encoding that the first bytes of XML name, by a mark or in the declaration; UTF-8 for an unknown one. */
function encodingOf(head: Buffer): string {
  const mark = head.toString('hex', 0, 2)
  if (mark === 'fffe') return 'utf-16le'
  if (mark === 'feff') return 'utf-16be'
  const [, name = 'utf-8'] = /^<\?xml[^>]*encoding=["']([\w-]+)/.exec(head.toString('latin1', 0, 200)) ?? []
  return /^(?:iso-8859-\d+|windows-\d+)$/i.test(name) ? name : 'utf-8'
}

/** Returns the unpacked bytes of an entry. Throws if they are more than it declares. */
export function readPart(zip: Buffer, entry: ZipEntry): Buffer {
  const packed = packedBytesOf(zip, entry)
  return entry.isDeflated ? inflateRawSync(packed, { maxOutputLength: entry.declaredBytes + SLACK_BYTES }) : packed
}

function unpack(zip: Buffer, entry: ZipEntry): AsyncIterable<Buffer> {
  const packed = Readable.from([packedBytesOf(zip, entry)])
  return entry.isDeflated ? packed.pipe(createInflateRaw()) : packed
}

export function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}
