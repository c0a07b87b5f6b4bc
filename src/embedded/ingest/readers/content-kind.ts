import type { ExtractionSource } from './extraction.ts'
import { decodesAsText } from './text-encoding.ts'

/** The type of a file: from its bytes if they identify it, otherwise the MIME type that it was sent with. */
interface ContentType {
  readonly mimeType: string
  readonly kind: ContentKind
}

const HEAD_BYTES = 64 * 1024

/** Returns whether documents of a kind are text, which has no signature in its first bytes. */
export function isTextKind(kind: ContentKind): kind is TextKind {
  return kind === 'text' || kind === 'html' || kind === 'csv' || kind === 'unknown'
}

/** Types of containers: the first bytes do not identify what is in them. */
const CONTAINERS: readonly string[] = ['application/zip', 'application/x-cfb']

/** The beginnings of documents that are not text, though they begin with printable characters. */
const SIGNATURE = /^(?:%PDF-|\{\\rtf)/

/** Returns whether a file with these first bytes may be read as text without a closer examination. */
export function looksLikeText(head: Buffer): boolean {
  return !head.includes(0) && !SIGNATURE.test(head.toString('latin1', 0, 8))
}

/** Returns the type of a file. Examines its first bytes, because the MIME type that it was sent with may be wrong or missing. */
export async function contentTypeOf(source: ExtractionSource): Promise<ContentType> {
  const named = { mimeType: source.mimeType, kind: kindOf(source.mimeType) }
  const head = await readHead(source)
  if (isTextKind(named.kind) && looksLikeText(head)) return { ...named, kind: kindOfText(named.kind, head) }
  const { fileTypeFromBuffer } = await import('file-type')
  const mimeType = (await fileTypeFromBuffer(head))?.mime
  if (mimeType === undefined || kindOf(mimeType) === 'text') return (await textUnderName(source, head, named)) ?? named
  const hasNoText = named.kind === 'other' || named.kind === 'unsupported'
  // The reader of these containers finds out which program wrote it. It may also be an encrypted document of a newer program.
  if (mimeType === 'application/x-cfb') return hasNoText ? named : { mimeType, kind: 'compound' }
  const isVague = CONTAINERS.includes(mimeType) && !isTextKind(named.kind)
  return isVague ? named : { mimeType, kind: kindOf(mimeType) }
}

/** Returns `mail` for a message that was sent as text or without a type, because its parts may be encoded; otherwise the named kind. */
export function kindOfText(named: TextKind, head: Buffer): ContentKind {
  return (named === 'text' || named === 'unknown') && messageKind(head) ? 'mail' : named
}

/** The beginning of HTML that is stored under the name of another format. */
const HTML =
  /^\ufeff?\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->)[\s\S]){0,2000}-->\s*)*<(?:!doctype\s+html|html|head|body|table|meta)\b/i
const POSTSCRIPT_OR_PIXELS = /^(?:%!PS|P[1-7]\s)/
const LATE_PDF = /%PDF-\d/
/** Viewers look for the signature of a PDF in this many bytes. */
const LATE_PDF_BYTES = 1_024
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROLS = /[\x01-\x06\x0e-\x19\x1c-\x1f]/g

/** Returns the type of a file that has no signature at its start: a PDF with a later one, or text of some type; undefined for others. */
async function textUnderName(
  source: ExtractionSource,
  head: Buffer,
  named: ContentType,
): Promise<ContentType | undefined> {
  if (named.kind === 'mail' || named.kind === 'media') return undefined
  const text = head.toString('latin1')
  if (named.kind === 'pdf' && LATE_PDF.test(text.slice(0, LATE_PDF_BYTES))) return named
  if (POSTSCRIPT_OR_PIXELS.test(text) || (text.match(CONTROLS)?.length ?? 0) * 100 > text.length) return undefined
  if (!(await decodesAsText({ ...source, chunks: () => [head] }))) return undefined
  if (HTML.test(text.replaceAll('\0', '').replace(/^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)/, ''))) {
    return { mimeType: 'text/html', kind: 'html' }
  }
  if (messageKind(head)) return { mimeType: 'message/rfc822', kind: 'mail' }
  const isTable = named.kind === 'workbook' || named.mimeType === 'application/vnd.ms-excel'
  return isTable ? { mimeType: 'text/csv', kind: 'csv' } : { mimeType: 'text/plain', kind: 'unknown' }
}

const HEADER_BYTES = 16 * 1024
const HEADER = /^([!-9;-~]+):/
const PLAIN_HEADERS = ['from', 'to', 'subject', 'date']
/** Headers that only messages have. */
const MESSAGE_HEADERS = ['message-id', 'received', 'return-path', 'delivered-to', 'mime-version']
/** The line before the headers: that of an mbox, or the length of the message in a file of Apple Mail. */
const BEFORE_HEADERS = { mbox: /^From [^\n]*\d\d:\d\d[^\n]*\n/, emlx: /^\d+[ \t]*\r?\n/ } as const

/** Returns the format of a message, if the text begins with the headers of one; otherwise undefined. */
export function messageKind(head: Buffer): 'message' | keyof typeof BEFORE_HEADERS | undefined {
  const text = head.toString('latin1', 0, HEADER_BYTES)
  const before = (['mbox', 'emlx'] as const).find((kind) => BEFORE_HEADERS[kind].test(text))
  const start = before ? text.indexOf('\n') + 1 : 0
  const names = new Set<string>()
  for (const line of text.slice(start).split(/\r?\n/)) {
    const name = HEADER.exec(line)?.[1]?.toLowerCase()
    if (name !== undefined) names.add(name)
    else if (!/^[ \t]/.test(line) && !line.startsWith('>From ')) break
  }
  const has = (name: string) => names.has(name)
  const isMessage = has('content-type') ? MESSAGE_HEADERS.some(has) : has('from') && MESSAGE_HEADERS.some(has)
  return isMessage || (before && has('from') && PLAIN_HEADERS.filter(has).length > 2)
    ? (before ?? 'message')
    : undefined
}

async function readHead(source: ExtractionSource): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of source.chunks()) {
    chunks.push(chunk)
    length += chunk.length
    if (length >= HEAD_BYTES) break
  }
  return Buffer.concat(chunks).subarray(0, HEAD_BYTES)
}

/**
 * The kind of a file, which decides how it is read.
 * - `unknown`: it is read as text if it is valid text;
 * - `gzip`: the one file in it is read;
 * - `unsupported`: it has text, but in a format that no reader here knows;
 * - `other`: it has no text (archives, fonts, programs).
 */
export type ContentKind = TextKind | DocumentKind | 'picture' | 'media' | 'gzip' | 'unsupported' | 'other'

export type TextKind = 'text' | 'html' | 'csv' | 'unknown'

/** Documents that are read as a whole, by a parser. */
export type DocumentKind = 'pdf' | 'office' | 'workbook' | 'mail' | 'compound'

const BY_TYPE: Readonly<Record<string, ContentKind>> = {
  ...typesOf('html', 'text/html application/xhtml+xml'),
  ...typesOf('csv', 'text/csv text/tab-separated-values'),
  ...typesOf('text', 'application/json application/xml application/yaml application/toml application/sql'),
  ...typesOf('text', 'application/javascript application/x-ndjson application/json5 application/x-subrip'),
  ...typesOf('pdf', 'application/pdf'),
  ...typesOf('office', 'application/rtf text/rtf application/epub+zip'),
  ...typesOf('office', 'application/vnd.ms-word.document.macroenabled.12'),
  ...typesOf('office', 'application/vnd.ms-powerpoint.presentation.macroenabled.12'),
  ...typesOf('workbook', 'application/vnd.ms-excel.sheet.macroenabled.12'),
  ...typesOf('mail', 'message/rfc822 application/mbox'),
  ...typesOf('unsupported', 'application/postscript application/oxps application/vnd.ms-xpsdocument'),
  ...typesOf('compound', 'application/msword application/vnd.ms-excel application/vnd.ms-powerpoint'),
  ...typesOf('compound', 'application/vnd.ms-outlook application/x-cfb'),
  ...typesOf('unsupported', 'application/onenote application/x-mobipocket-ebook'),
  ...typesOf('unsupported', 'application/vnd.amazon.ebook application/vnd.apple.pages'),
  ...typesOf('unsupported', 'application/vnd.apple.numbers application/vnd.apple.keynote application/vnd.visio'),
  ...typesOf('unsupported', 'image/vnd.djvu application/vnd.comicbook+zip application/vnd.comicbook-rar'),
  ...typesOf('unsupported', 'application/vnd.ms-excel.sheet.binary.macroenabled.12'),
  ...typesOf('media', 'application/ogg application/vnd.ms-asf'),
  ...typesOf('other', 'audio/midi'),
  ...typesOf('gzip', 'application/gzip application/x-gzip'),
  ...typesOf('other', 'application/zip application/x-tar application/x-bzip2 application/x-xz'),
  ...typesOf('other', 'application/zstd application/x-lzip application/x-lz4 application/x-7z-compressed'),
  ...typesOf('other', 'application/vnd.rar application/java-archive application/x-cpio application/x-iso9660-image'),
  ...typesOf('other', 'application/wasm application/vnd.sqlite3 application/x-elf application/x-msdownload'),
}

function typesOf(kind: ContentKind, types: string): Readonly<Record<string, ContentKind>> {
  return Object.fromEntries(types.split(' ').map((type) => [type, kind]))
}

/** Returns the kind of a file by its MIME type alone. */
export function kindOf(mimeType: string): ContentKind {
  const known = BY_TYPE[mimeType]
  if (known) return known
  if (mimeType.startsWith('text/') || /\+(json|xml|yaml)$/.test(mimeType)) return 'text'
  if (mimeType.startsWith('image/')) return 'picture'
  if (/^(audio|video)\//.test(mimeType)) return 'media'
  if (mimeType.startsWith('font/')) return 'other'
  if (/^application\/vnd\.openxmlformats-officedocument\.(wordprocessing|presentation)ml\./.test(mimeType))
    return 'office'
  if (mimeType.startsWith('application/vnd.openxmlformats-officedocument.spreadsheetml.')) return 'workbook'
  if (/^application\/vnd\.oasis\.opendocument\.(text|spreadsheet|presentation|graphics)/.test(mimeType)) return 'office'
  return /^application\/vnd\.(openxmlformats|oasis|ms-)/.test(mimeType) ? 'unsupported' : 'unknown'
}
