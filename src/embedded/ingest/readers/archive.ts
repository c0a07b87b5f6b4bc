import { Readable } from 'node:stream'
import { createInflateRaw, inflateRawSync } from 'node:zlib'
import { Parser, type ParserOptions } from 'htmlparser2'

/** A file of an archive, by its central directory. */
export interface ZipEntry {
  /** Its path, directories separated by slashes. */
  readonly name: string
  /** Where the bytes of its name begin in the central directory. */
  readonly nameStart: number
  readonly isDeflated: boolean
  /** Its bytes are packed, then encrypted with a password. */
  readonly isEncrypted: boolean
  readonly packedBytes: number
  /** The size that the archive declares, which may be a lie. */
  readonly declaredBytes: number
  /** The offset of its local header. */
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

/** Reads the central directory; throws when it is missing or broken. Archives of 4 GiB and more (ZIP64) are not read. */
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
    entries.push({
      name: zip.toString('utf8', at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes).replaceAll('\\', '/'),
      nameStart: at + ENTRY_BYTES,
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

/** The bytes of an entry as they are packed; throws when they lie outside the archive. */
export function packedBytesOf(zip: Buffer, { name, start, packedBytes }: ZipEntry): Buffer {
  const isInside = start + LOCAL_BYTES <= zip.length
  const from = isInside ? start + LOCAL_BYTES + zip.readUInt16LE(start + 26) + zip.readUInt16LE(start + 28) : 0
  if (!isInside || from + packedBytes > zip.length) throw new Error(`The document is damaged: "${name}" is cut short`)
  return zip.subarray(from, from + packedBytes)
}

export const ARCHIVE_LIMITS = {
  entries: 10_000,
  /** All files of the archive unpacked. */
  unpackedBytes: 1024 * 2 ** 20,
  /** The markup that a parser unpacks and keeps as a tree, which takes some 30 times as much memory. */
  markupBytes: 16 * 2 ** 20,
} as const

const MARKUP = /\.(?:xml|rels|xhtml|html?|opf|ncx)$/i

/**
 * Throws when the archive is encrypted, or declares more than may be unpacked: a few hundred kilobytes can hold gigabytes. Markup
 * that is read in pieces (`isStreamed`) has no bound of its own.
 */
export function checkArchive(entries: readonly ZipEntry[], isStreamed = false): void {
  if (entries.some(({ isEncrypted }) => isEncrypted)) throw passwordNeeded()
  const { entries: mostEntries, unpackedBytes, markupBytes } = ARCHIVE_LIMITS
  if (entries.length > mostEntries) throw tooLarge(`${entries.length} files`, `${mostEntries}`)
  const all = declaredBytes(entries)
  if (all > unpackedBytes) throw tooLarge(inMiB(all), inMiB(unpackedBytes))
  const markup = isStreamed ? 0 : declaredBytes(entries.filter(({ name }) => MARKUP.test(name)))
  if (markup > markupBytes) throw tooLarge(`${inMiB(markup)} of text`, inMiB(markupBytes))
}

export function passwordNeeded(): Error {
  return new Error('The document is encrypted: reading it takes its password')
}

function declaredBytes(entries: readonly ZipEntry[]): number {
  return entries.reduce((sum, entry) => sum + entry.declaredBytes, 0)
}

function inMiB(bytes: number): string {
  return `${Math.ceil(bytes / 2 ** 20)} MiB`
}

function tooLarge(what: string, most: string): Error {
  return new Error(`The document unpacks to ${what}; at most ${most} are read`)
}

export interface XmlListener {
  onOpen?(name: string, attributes: Readonly<Record<string, string>>): void
  onText?(text: string): void
  onClose?(name: string): void
}

/** A part may not unpack to more than it declares, which `checkArchive` has seen. */
const SLACK_BYTES = 1024
const XML: ParserOptions = { xmlMode: true, decodeEntities: true }

/** Reads one XML file of an archive piece by piece, names without their prefix; `drain` is awaited after each piece. */
export async function readXmlPart(
  zip: Buffer,
  entry: ZipEntry,
  listener: XmlListener,
  drain: () => Promise<void> | void = () => {},
): Promise<void> {
  const parser = new Parser(
    {
      onopentag: (name, attributes) => listener.onOpen?.(localName(name), attributes),
      ontext: (text) => listener.onText?.(text),
      onclosetag: (name) => listener.onClose?.(localName(name)),
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

const OPEN_TEXT = ['p', 'h', 'title', 'desc', 'header-decl', 'footer-decl']
/** Elements that may begin and end within a word. */
const WITHIN_WORDS = /^(?:span|a|meta|ruby|ruby-base|(?:bookmark|change|reference|soft)\b.*)$/
/** Programs fill these in: their text is not the author's. */
const FIELDS = ['page-number', 'page-count', 'date', 'time', 'sheet-name', 'file-name', 'note-citation']
const FORM_TEXT = ['form:label', 'form:value', 'form:current-value', 'form:title']

/**
 * Calls `onText` for each paragraph, label and form value in a part of an OpenDocument. From its styles takes texts of pages, such as
 * headers, but no placeholders of slides.
 */
export async function readOpenParagraphs(zip: Buffer, part: ZipEntry, onText: (text: string) => void): Promise<void> {
  const isStyles = part.name.endsWith('styles.xml')
  let isShown = !isStyles
  let text = ''
  /** The depth inside an element that is passed over; 0 outside. */
  let passedOver = 0
  await readXmlPart(zip, part, {
    onOpen: (name, attributes) => {
      if (name === 'master-styles') isShown = true
      const isPlace = isStyles && attributes['presentation:class'] !== undefined
      if (passedOver > 0 || FIELDS.includes(name) || isPlace) passedOver += 1
      if (!WITHIN_WORDS.test(name)) text += ' '
      for (const key of FORM_TEXT) if (isShown && attributes[key]) onText(attributes[key])
    },
    onText: (piece) => {
      if (isShown && passedOver === 0) text += piece
    },
    onClose: (name) => {
      if (passedOver > 0) passedOver -= 1
      if (!OPEN_TEXT.includes(name)) return
      if (text.trim() !== '') onText(text.replace(/\s+/g, ' ').trim())
      text = ''
    },
  })
}

/** The encoding that the first bytes of XML name, by a mark or in words; one that is not known is taken for UTF-8. */
function encodingOf(head: Buffer): string {
  const mark = head.toString('hex', 0, 2)
  if (mark === 'fffe') return 'utf-16le'
  if (mark === 'feff') return 'utf-16be'
  const [, name = 'utf-8'] = /^<\?xml[^>]*encoding=["']([\w-]+)/.exec(head.toString('latin1', 0, 200)) ?? []
  return /^(?:iso-8859-\d+|windows-\d+)$/i.test(name) ? name : 'utf-8'
}

/** One file of an archive; throws when it unpacks to more than it declares. */
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
