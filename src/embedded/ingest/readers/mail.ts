import type { Address, Attachment, Email } from 'postal-mime'
import { messageOf } from '../../../foundation/errors.ts'
import { counted } from '../../../foundation/text/safe-text.ts'
import { messageKind } from './content-kind.ts'
import {
  completed,
  DocumentError,
  type ExtractionEnd,
  type ExtractionSink,
  FOR_NEXT_STAGE,
  type NestedReader,
  partial,
} from './extraction.ts'
import { PassageSplitter } from './passage-splitter.ts'
import { extractText } from './text.ts'

const MAX_ATTACHMENTS = 100
const ENCRYPTED = /^application\/(?:pgp-encrypted|(?:x-)?pkcs7-mime)$/
/** The type of signed content (RFC 5652, 5.1) in DER. It is near the beginning of a message that S/MIME signed. */
const SIGNED = Buffer.from('06092a864886f70d010702', 'hex')
const SIGNED_BYTES = 64

interface Tools {
  readonly readNested: NestedReader
}

/** Extracts a message (RFC 5322), or the messages of a mailbox (mbox). Throws if a single message is encrypted. */
export async function readMail(bytes: Buffer, sink: ExtractionSink, tools: Tools): Promise<ExtractionEnd> {
  const kind = messageKind(bytes)
  if (kind === 'mbox') return await readMailbox(bytes, sink, tools)
  return await readMessage(kind === 'emlx' ? withoutFrame(bytes) : bytes, sink, tools)
}

/** Removes what Apple Mail adds: a line with the length of the message before it, and properties after it. */
function withoutFrame(bytes: Buffer): Buffer {
  const start = bytes.indexOf('\n') + 1
  return bytes.subarray(start, start + Number.parseInt(bytes.toString('latin1', 0, start), 10))
}

const MESSAGE_BORDER = Buffer.from('\nFrom ')
const BORDER_LINE = /^From \S.*\d\d:\d\d/
const QUOTED_BORDER = /^>(?=>*From )/gm
const MAX_WARNINGS = 100

/** Emits the messages of a mailbox, each with its subject as detail; adds a warning for one that cannot be read. */
async function readMailbox(bytes: Buffer, sink: ExtractionSink, tools: Tools): Promise<ExtractionEnd> {
  const warnings: string[] = []
  let [messages, isForNextStage, hasText] = [0, false, false]
  for (const message of messagesIn(bytes)) {
    messages += 1
    let subject = `Message ${messages}`
    const emit: ExtractionSink['emit'] = (passage) => {
      hasText = true
      sink.emit({ ...passage, detail: { message: subject, ...passage.detail } })
    }
    const onSubject = (text: string) => {
      subject = text
    }
    try {
      const end = await readMessage(message, { ...sink, emit }, { ...tools, onSubject })
      if (end.status === 'running') isForNextStage = true
      for (const fault of end.status === 'partial' ? [end.failure] : end.warnings)
        warnings.push(`Message ${messages} ("${subject}"): ${fault}`)
    } catch (error) {
      if (!(error instanceof DocumentError)) throw error
      warnings.push(`Message ${messages} ("${subject}"): ${error.message}`)
    }
  }
  if (isForNextStage) return FOR_NEXT_STAGE
  const others = warnings.length - MAX_WARNINGS
  const named =
    others > 0 ? [...warnings.slice(0, MAX_WARNINGS), `${counted(others, 'further fault')} of its messages`] : warnings
  const end = hasText ? completed(...named) : partial('The mailbox has no text: only its title is searchable', named)
  return { ...end, textType: 'text/markdown', properties: { messages } }
}

function* messagesIn(bytes: Buffer): Generator<Buffer> {
  let start = 0
  for (let at = bytes.indexOf(MESSAGE_BORDER); at >= 0; at = bytes.indexOf(MESSAGE_BORDER, at + 1)) {
    if (!BORDER_LINE.test(bytes.toString('latin1', at + 1, at + 200))) continue
    yield withoutBorder(bytes.subarray(start, at + 1))
    start = at + 1
  }
  yield withoutBorder(bytes.subarray(start))
}

function withoutBorder(bytes: Buffer): Buffer {
  const message = bytes.subarray(bytes.indexOf('\n') + 1)
  if (!message.includes('\n>From ') && !message.includes('\n>>')) return message
  return Buffer.from(message.toString('latin1').replace(QUOTED_BORDER, ''), 'latin1')
}

/** Extracts a message and its attachments as Markdown. A file without the headers of a message is read as plain text. */
async function readMessage(
  bytes: Buffer,
  sink: ExtractionSink,
  { readNested, onSubject }: Tools & { onSubject?: (subject: string) => void },
): Promise<ExtractionEnd> {
  const { default: PostalMime } = await import('postal-mime')
  const { message, isCorrected } = correctEncodings(bytes)
  const mail = await PostalMime.parse(message, { rfc822Attachments: true })
  if (mail.subject) onSubject?.(mail.subject.replace(/\s+/g, ' '))
  if (!mail.from && !mail.to && !mail.date && !mail.subject && messageKind(bytes) === undefined) {
    const end = await extractText(
      { mimeType: 'text/plain', sizeBytes: bytes.length, chunks: () => [bytes] },
      sink,
      'text',
    )
    return end.status === 'partial' ? end : completed(...end.warnings, NO_MESSAGE)
  }
  const locked = mail.attachments.find(({ mimeType }) => ENCRYPTED.test(mimeType))
  if (locked && !isSigned(bytesOf(locked)))
    throw new DocumentError('The message is encrypted: reading it requires its key')
  const end = await emitMessage(mail, sink, readNested)
  if (locked && end.status !== 'running') return { ...end, ...partial(PACKED_BY_SIGNATURE, end.warnings) }
  return isCorrected && end.status !== 'running' ? withWarning(end, WRONG_ENCODING) : end
}

const PACKED_BY_SIGNATURE =
  'The message is packed into its signature (S/MIME), which is not read: only its head is searchable'

function isSigned(bytes: Buffer): boolean {
  return bytes.subarray(0, SIGNED_BYTES).includes(SIGNED)
}

interface Message extends Pick<Email, 'subject' | 'from' | 'to' | 'cc' | 'date' | 'text' | 'html'> {
  readonly attachments: readonly (Pick<Attachment, 'filename' | 'mimeType' | 'content'> &
    Partial<Pick<Attachment, 'disposition' | 'related'>>)[]
}

/** Emits a message as Markdown, then the text of its attachments. */
export async function emitMessage(
  message: Message,
  sink: ExtractionSink,
  readNested: NestedReader,
): Promise<ExtractionEnd> {
  const { text = '', html = '', attachments } = message
  const body = wholeBody(text.trim(), await visibleText(html))
  const splitter = new PassageSplitter('line', (passage) => sink.emit(passage))
  splitter.write(`${headOf(message)}\n\n${body}`)
  splitter.end()
  await sink.drain()
  const warnings = await readAttachments(attachments, sink, readNested)
  if (!warnings) return FOR_NEXT_STAGE
  const hasText = body !== '' || attachments.length > 0
  const end = hasText ? completed(...warnings) : partial('The message has no text: only its subject is searchable')
  return { ...end, textType: 'text/markdown', properties: { attachments: attachments.length } }
}

/** Addresses of links, which a page hides, but its version as plain text shows. */
const HIDDEN_IN_PAGE = /<?(?:https?|mailto):\S+/g
const WORDS = /[\p{L}\p{N}]+/gu

/** Returns the plain text if it has all words of the page; otherwise the page, and the lines of the text with words that the page lacks. */
function wholeBody(text: string, page: string): string {
  if (text === '' || page === '') return text || page
  const wordsOf = (each: string) => each.match(WORDS) ?? []
  const [ofText, ofPage] = [new Set(wordsOf(text)), new Set(wordsOf(page))]
  if (wordsOf(page).every((word) => ofText.has(word))) return text
  const onlyInText = text
    .split('\n')
    .filter((line) => wordsOf(line.replace(HIDDEN_IN_PAGE, ' ')).some((word) => !ofPage.has(word)))
  return [page, ...onlyInText].join('\n')
}

function withWarning(end: ExtractionEnd, warning: string): ExtractionEnd {
  const status = end.status === 'completed' ? 'completed_with_warnings' : end.status
  return { ...end, status, warnings: [warning, ...end.warnings] }
}

const NO_MESSAGE = 'The file has no headers of a message: it was read as plain text'
const WRONG_ENCODING = 'A part of the message is not in the transfer encoding that it declares: it was read as it is'

const BASE64_HEADER = /^(content-transfer-encoding:[ \t]*)base64[ \t]*\r?$/gim
const HEADERS_END = /\n\r?\n/g
/** Text in base64 consists of these characters. */
const BASE64_LINES = /^[a-z\d+/=\s]*$/i
const BASE64_CHARACTERS = /[a-z\d+/=\r\n]+/gi

/** Corrects the headers of parts that declare base64 (RFC 2045, 6.8) but contain other text, which decoding would turn into noise. */
function correctEncodings(bytes: Buffer): { readonly message: Buffer; readonly isCorrected: boolean } {
  const text = bytes.toString('latin1')
  const corrected: string[] = []
  let doneTo = 0
  for (BASE64_HEADER.lastIndex = 0; ; ) {
    const header = BASE64_HEADER.exec(text)
    if (!header) break
    HEADERS_END.lastIndex = header.index
    if (!HEADERS_END.test(text)) break
    const start = HEADERS_END.lastIndex
    const next = text.indexOf('\n--', start - 1)
    const end = next < 0 ? text.length : next
    // The search continues after this part, so that no part is examined twice.
    BASE64_HEADER.lastIndex = end
    if (!isNoBase64(text.slice(start, end))) continue
    corrected.push(text.slice(doneTo, header.index), `${header[1]}8bit`)
    doneTo = header.index + header[0].length
  }
  if (corrected.length === 0) return { message: bytes, isCorrected: false }
  return { message: Buffer.from([...corrected, text.slice(doneTo)].join(''), 'latin1'), isCorrected: true }
}

function isNoBase64(body: string): boolean {
  if (body.trim() === '' || BASE64_LINES.test(body)) return false
  return body.replace(BASE64_CHARACTERS, '').length * 20 >= body.length
}

function headOf({ subject = '', from, to, cc, date, attachments }: Message): string {
  const lines = {
    From: from ? nameOf(from) : '',
    To: (to ?? []).map(nameOf).join(', '),
    Cc: (cc ?? []).map(nameOf).join(', '),
    Date: date ?? '',
    Attachments: attachments
      .map(({ filename }) => filename ?? '')
      .filter((name) => name !== '')
      .join(', '),
  }
  const headers = Object.entries(lines).flatMap(([name, value]) => (value === '' ? [] : [`${name}: ${value}`]))
  return [`# ${subject.replace(/\s+/g, ' ')}`, '', ...headers].join('\n')
}

function nameOf({ name, address, group }: Address): string {
  if (group) return `${name}: ${group.map(nameOf).join(', ')}`
  return name && address ? `${name} <${address}>` : name || (address ?? '')
}

async function visibleText(html: string): Promise<string> {
  const { HtmlTextReader } = await import('./html.ts')
  const pieces: string[] = []
  const reader = new HtmlTextReader((text) => pieces.push(text))
  reader.write(html)
  reader.end()
  return pieces.join('').trim()
}

/** Emits the text of attachments. Returns warnings about those not read completely; undefined if the next stage has to read one. */
export async function readAttachments(
  attachments: Message['attachments'],
  sink: ExtractionSink,
  readNested: NestedReader,
): Promise<string[] | undefined> {
  const warnings: string[] = []
  let needsNextStage = false
  for (const attachment of attachments.slice(0, MAX_ATTACHMENTS)) {
    const { filename, mimeType } = attachment
    const name = filename ?? 'without a name'
    let hasText = false
    const emit: ExtractionSink['emit'] = (passage) => {
      hasText = true
      sink.emit({ ...passage, detail: { attachment: name, ...passage.detail } })
    }
    try {
      const end = await readNested({ mimeType, bytes: bytesOf(attachment) }, { ...sink, emit })
      const faults = end.status === 'partial' ? [end.failure] : hasText || !isOrnament(attachment) ? end.warnings : []
      for (const fault of faults) warnings.push(`Attachment "${name}": ${fault}`)
      if (end.status === 'running') needsNextStage = true
    } catch (error) {
      warnings.push(`Attachment "${name}": ${messageOf(error)}`)
    }
  }
  if (attachments.length > MAX_ATTACHMENTS) warnings.push(`Only the first ${MAX_ATTACHMENTS} attachments were read`)
  return needsNextStage ? undefined : warnings
}

function bytesOf({ content }: Pick<Attachment, 'content'>): Buffer {
  return typeof content === 'string' ? Buffer.from(content) : Buffer.from(new Uint8Array(content))
}

/** Returns whether an attachment is a signature, or a picture in the text: if it has no text, it needs no warning. */
function isOrnament({ mimeType, disposition, related }: Message['attachments'][number]): boolean {
  if (/^application\/(?:pgp-signature|(?:x-)?pkcs7-signature)$/.test(mimeType)) return true
  return mimeType.startsWith('image/') && (related === true || disposition === 'inline')
}
