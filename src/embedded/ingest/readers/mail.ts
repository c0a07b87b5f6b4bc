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

const MAX_ATTACHMENTS = 100
const ENCRYPTED = /^application\/(?:pgp-encrypted|(?:x-)?pkcs7-mime)$/

/**
 * Extracts a message (RFC 5322) as Markdown: subject, people, date, its text, and the text of what is attached. Throws when it is no
 * message, or encrypted.
 */
export async function readMail(
  bytes: Buffer,
  sink: ExtractionSink,
  { readNested }: { readonly readNested: NestedReader },
): Promise<ExtractionEnd> {
  const { default: PostalMime } = await import('postal-mime')
  const mail = await PostalMime.parse(bytes, { rfc822Attachments: true })
  if (!mail.from && !mail.to && !mail.date && !mail.subject) throw new Error('The file is no e-mail message')
  if (mail.attachments.some(({ mimeType }) => ENCRYPTED.test(mimeType))) {
    throw new Error('The message is encrypted: reading it takes its key')
  }
  const body = (mail.text ?? '').trim() || (await visibleText(mail.html ?? ''))
  const splitter = new PassageSplitter('line', (passage) => sink.take(passage))
  splitter.write(`${headOf(mail)}\n\n${body}`)
  splitter.end()
  await sink.drain()
  const warnings = await readAttachments(mail.attachments, sink, readNested)
  if (!warnings) return FOR_NEXT_STAGE
  const hasText = body !== '' || mail.attachments.length > 0
  const end = hasText ? completed(...warnings) : partial('The message has no text: only its subject is searchable')
  return { ...end, textType: 'text/markdown', properties: { attachments: mail.attachments.length } }
}

function headOf({ subject = '', from, to, cc, date, attachments }: Email): string {
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
  attachments: readonly Attachment[],
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
