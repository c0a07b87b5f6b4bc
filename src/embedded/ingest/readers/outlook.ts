import { createRequire } from 'node:module'
import iconv from 'iconv-lite'
import { mimeOf } from '../../../contract/mime.ts'
import { type ExtractionEnd, type ExtractionSink, type NestedReader, unreadable } from './extraction.ts'
import { emitMessage } from './mail.ts'

// Required, not imported: loaders of modules disagree on the default export of this package.
const { default: MsgReader }: typeof import('@kenjiuno/msgreader') = createRequire(import.meta.url)(
  '@kenjiuno/msgreader',
)

/** Extracts a message file of Outlook in the same form as `readMail`. Throws if it is broken. */
export async function readOutlook(
  bytes: Buffer,
  sink: ExtractionSink,
  { readNested }: { readonly readNested: NestedReader },
): Promise<ExtractionEnd> {
  const { packedText, ...message } = parse(bytes)
  const attachments = packedText ? [{ ...BODY, content: packedText }, ...message.attachments] : message.attachments
  return await emitMessage({ ...message, attachments }, sink, readNested)
}

function parse(bytes: Buffer) {
  try {
    const { messageCodepage, messageLocaleId } = open(bytes).getFileData()
    const reader = open(bytes, messageCodepage ?? codePageOf(messageLocaleId))
    const { subject, body, html, recipients = [], attachments = [], ...fields } = reader.getFileData()
    const people = (type: string) => recipients.filter(({ recipType }) => recipType === type).map(personOf)
    return {
      ...(subject !== undefined && { subject }),
      from: personOf({ name: fields.senderName, email: fields.senderEmail, smtpAddress: fields.senderSmtpAddress }),
      to: people('to'),
      cc: people('cc'),
      date: fields.messageDeliveryTime ?? fields.clientSubmitTime,
      text: body,
      html: html && decode(html, fields.internetCodepage),
      attachments: attachments.map((attachment) => {
        const { fileName, content } = reader.getAttachment(attachment)
        return { filename: fileName, mimeType: mimeOf(fileName ?? ''), content }
      }),
      ...(!body && !html && fields.compressedRtf && { packedText: unpackRtf(Buffer.from(fields.compressedRtf)) }),
    }
  } catch (error) {
    throw unreadable('The message cannot be read, as it is damaged', error)
  }
}

/** If the only text of a message is RTF, the text is read like an attached document of this name. */
const BODY = { filename: 'message.rtf', mimeType: 'application/rtf' }
/** The initial dictionary: packed texts may refer to these characters ([MS-OXRTFCP] 2.1.3.1.2). */
const INITIAL_DICTIONARY =
  '{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx'
const HEAD_BYTES = 16
const PACKED = 0x75465a4c
const WINDOW = 4_096

/** Unpacks RTF ([MS-OXRTFCP]). Each bit of a control byte says whether a plain byte follows or a reference to earlier bytes. */
function unpackRtf(packed: Buffer): Buffer {
  if (packed.readUInt32LE(8) !== PACKED) return packed.subarray(HEAD_BYTES)
  const size = packed.readUInt32LE(4)
  const bytes = [...Buffer.from(INITIAL_DICTIONARY, 'latin1')]
  const start = bytes.length
  for (let at = HEAD_BYTES, bit = 8, bits = 0; at < packed.length && bytes.length < start + size; bit += 1) {
    if (bit === 8) [bits, bit] = [packed[at++] ?? 0, 0]
    if (((bits >> bit) & 1) === 0) {
      bytes.push(packed[at++] ?? 0)
      continue
    }
    const reference = packed.readUInt16BE(at)
    at += 2
    const position = bytes.length % WINDOW
    // A reference to the current position marks the end of the text.
    const back = (position - (reference >> 4) + WINDOW) % WINDOW
    if (back === 0) break
    for (let count = (reference & 15) + 2; count > 0; count -= 1) bytes.push(bytes.at(-back) ?? 0)
  }
  return Buffer.from(bytes.slice(start))
}

/** `codePage` is the encoding of the strings that are not in Unicode. */
function open(bytes: Buffer, codePage = 1252) {
  const reader = new MsgReader(new DataView(bytes.buffer, bytes.byteOffset, bytes.length))
  reader.parserConfig = { ansiEncoding: nameOf(codePage) }
  return reader
}

function decode(bytes: Uint8Array, codePage = 65_001): string {
  return iconv.decode(Buffer.from(bytes), nameOf(codePage))
}

function nameOf(codePage: number): string {
  const name = `cp${codePage}`
  return iconv.encodingExists(name) ? name : 'utf8'
}

/** The code page of each language that does not use that of Western Europe, by the lower ten bits of its locale ([MS-LCID]). */
const CODE_PAGES: Readonly<Record<number, number>> = {
  ...{ 1: 1256, 4: 936, 5: 1250, 8: 1253, 13: 1255, 14: 1250, 17: 932, 18: 949, 21: 1250 },
  ...{ 24: 1250, 25: 1251, 30: 874, 31: 1254, 34: 1251, 38: 1257, 39: 1257, 42: 1258, 41: 1256 },
}
const TAIWAN = 0x0404

function codePageOf(locale = 0): number | undefined {
  return locale === TAIWAN ? 950 : CODE_PAGES[locale & 0x3ff]
}

interface Person {
  readonly name?: string | undefined
  readonly email?: string | undefined
  readonly smtpAddress?: string | undefined
}

function personOf({ name = '', email = '', smtpAddress = email }: Person) {
  // Within an organization, an address may be a path in its directory, which is no e-mail address.
  return { name: name === smtpAddress ? '' : name, address: smtpAddress.startsWith('/') ? '' : smtpAddress }
}
