import type { Address, Attachment, Email } from 'postal-mime'
import { messageOf } from '../../../foundation/errors.ts'
import {
  completed,
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

/**
 * Extracts a message (RFC 5322) as Markdown: subject, people, date, its text, and the text of what is attached. A file without the
 * headers of a message is read as plain text. Throws when it is encrypted.
 */
export async function readMail(
  bytes: Buffer,
  sink: ExtractionSink,
  { readNested }: { readonly readNested: NestedReader },
): Promise<ExtractionEnd> {
  const { default: PostalMime } = await import('postal-mime')
  const { message, isCorrected } = correctEncodings(bytes)
  const mail = await PostalMime.parse(message, { rfc822Attachments: true })
  if (!mail.from && !mail.to && !mail.date && !mail.subject) {
    const end = await extractText(
      { mimeType: 'text/plain', sizeBytes: bytes.length, chunks: () => [bytes] },
      sink,
      'text',
    )
    return end.status === 'partial' ? end : completed(...end.warnings, NO_MESSAGE)
  }
  if (mail.attachments.some(({ mimeType }) => ENCRYPTED.test(mimeType))) {
    throw new Error('The message is encrypted: reading it takes its key')
  }
  const end = await takeMessage(mail, sink, readNested)
  return isCorrected && end.status !== 'running' ? withWarning(end, WRONG_ENCODING) : end
}

/** What a message says, whatever its format. */
interface Message extends Pick<Email, 'subject' | 'from' | 'to' | 'cc' | 'date' | 'text' | 'html'> {
  readonly attachments: readonly Pick<Attachment, 'filename' | 'mimeType' | 'content'>[]
}

/** Emits a message as Markdown, and the text of what is attached. */
export async function takeMessage(
  message: Message,
  sink: ExtractionSink,
  readNested: NestedReader,
): Promise<ExtractionEnd> {
  const { text = '', html = '', attachments } = message
  const body = text.trim() || (await visibleText(html))
  const splitter = new PassageSplitter('line', (passage) => sink.take(passage))
  splitter.write(`${headOf(message)}\n\n${body}`)
  splitter.end()
  await sink.drain()
  const warnings = await readAttachments(attachments, sink, readNested)
  if (!warnings) return FOR_NEXT_STAGE
  const hasText = body !== '' || attachments.length > 0
  const end = hasText ? completed(...warnings) : partial('The message has no text: only its subject is searchable')
  return { ...end, textType: 'text/markdown', properties: { attachments: attachments.length } }
}

function withWarning(end: ExtractionEnd, warning: string): ExtractionEnd {
  const status = end.status === 'completed' ? 'completed_with_warnings' : end.status
  return { ...end, status, warnings: [warning, ...end.warnings] }
}

const NO_MESSAGE = 'The file has no headers of a message: it was read as plain text'
const WRONG_ENCODING = 'A part of the message is not in the transfer encoding that it declares: it was read as it is'

const BASE64_HEADER = /^(content-transfer-encoding:[ \t]*)base64[ \t]*\r?$/gim
const HEADERS_END = /\n\r?\n/g
/** Its lines have no blanks and no punctuation but these. */
const BASE64_LINES = /^[a-z\d+/=\s]*$/i
const BASE64_CHARACTERS = /[a-z\d+/=\r\n]+/gi

/** Declares parts that say base64 (RFC 2045, 6.8) but hold other text as what they are: decoded, they would be noise. */
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
    // What was looked at once is not looked at again, whatever it holds.
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

/** Returns a warning for each attachment that could not be read whole; undefined when the next stage has to read one. */
async function readAttachments(
  attachments: Message['attachments'],
  sink: ExtractionSink,
  readNested: NestedReader,
): Promise<string[] | undefined> {
  const warnings: string[] = []
  let needsNextStage = false
  for (const { filename, mimeType, content } of attachments.slice(0, MAX_ATTACHMENTS)) {
    const name = filename ?? 'without a name'
    const bytes = typeof content === 'string' ? Buffer.from(content) : Buffer.from(new Uint8Array(content))
    let hasText = false
    const take: ExtractionSink['take'] = (passage) => {
      hasText = true
      sink.take({ ...passage, detail: { attachment: name, ...passage.detail } })
    }
    try {
      const end = await readNested({ mimeType, bytes }, { ...sink, take })
      const faults = end.status === 'partial' ? [end.failure] : hasText ? end.warnings : []
      for (const fault of faults) warnings.push(`Attachment "${name}": ${fault}`)
      if (end.status === 'running') needsNextStage = true
    } catch (error) {
      warnings.push(`Attachment "${name}": ${messageOf(error)}`)
    }
  }
  if (attachments.length > MAX_ATTACHMENTS) warnings.push(`Only the first ${MAX_ATTACHMENTS} attachments were read`)
  return needsNextStage ? undefined : warnings
}
