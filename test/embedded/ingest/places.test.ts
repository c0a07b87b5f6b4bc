import { describe, expect, it } from 'vitest'
import { mimeOf } from '../../../src/contract/mime.ts'
import { readHere } from './read-here.ts'

/** For each place of a format, a document that has the word `heron` there. */
type Places = Readonly<Record<string, string | Buffer>>

/**
 * What a reader must do with each place where its format can hold text that a viewer shows: give its words as they are seen, or say
 * that it passes over something. The keys of the inner tables begin with the name of the file.
 */
async function expectFoundOrNamed(name: string, document: string | Buffer): Promise<void> {
  const outcome = await readHere(mimeOf(name), [Buffer.from(document)]).catch((error: unknown) => error)
  if (outcome instanceof Error) throw outcome
  const { text, end } = outcome as Awaited<ReturnType<typeof readHere>>
  const words = text.split(/[^\p{L}\p{N}]+/u)
  const isNamed = end.status === 'partial' || end.warnings.some((warning) => NAMED.test(warning))
  if (!isNamed) expect({ words, status: end.status }).toMatchObject({ words: expect.arrayContaining(['heron']) })
}

/** Warnings that name something that was passed over; others only say how well the text was read. */
const NAMED = /not read|Attachment|without text|Only the first/

function describePlaces(format: string, places: Places): void {
  it.each(Object.entries(places))(`${format}: %s`, async (place, document) => {
    await expectFoundOrNamed(place.replace(/ .*/, ''), document)
  })
}

const crlf = (text: string) => text.replaceAll('\n', '\r\n')
const base64 = (text: string) => Buffer.from(text).toString('base64')
const HEAD = 'From: Ada <ada@example.com>\nSubject: Birds\nDate: Thu, 29 Feb 2024 10:00:00 +0000\nMIME-Version: 1.0\n'
const ENCODED = `Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n${base64('A heron stands')}\n`
const message = crlf(`${HEAD}${ENCODED}`)
const page = '<html><head><meta charset="utf-8"></head><body><table><tr><td>heron</td></tr></table></body></html>'

const multipart = (type: string, ...parts: readonly string[]) =>
  crlf(`${HEAD}Content-Type: multipart/${type}; boundary=B\n\n${parts.map((part) => `--B\n${part}\n`).join('')}--B--\n`)
const asText = (text: string) => `Content-Type: text/plain\n\n${text}`
const asPage = (text: string) => `Content-Type: text/html\n\n<p>${text}</p>`
const attached = (type: string, name: string, content: string) =>
  `Content-Type: ${type}\nContent-Disposition: attachment; filename="${name}"\nContent-Transfer-Encoding: base64\n\n${base64(content)}`

describe('text is found at its place, or what is passed over is named', () => {
  describePlaces('text under the name of another format', {
    'a.doc as plain text': 'A text about a heron\r\n',
    'a.doc as a page': page,
    'a.doc as a message': crlf(`Date: Thu, 1 Jan 2026 10:00:00 +0000\n${asMhtml()}`),
    'a.docx as plain text': 'A text about a heron\n',
    'a.dot of Graphviz': 'digraph { heron -> egret }\n',
    'a.rtf as plain text': 'A text about a heron\n',
    'a.xls as a page': page,
    'a.xls as a page with a mark': `\ufeff${page}`,
    'a.xls as a page in UTF-16': Buffer.from(`\ufeff${page}`, 'utf16le'),
    'a.xls as XML': '<?xml version="1.0"?><Workbook><Cell><Data>heron</Data></Cell></Workbook>',
    'a.xls with tabs': 'Name\tCount\nheron\t5\n',
    'a.xls with tabs in UTF-16': Buffer.from('\ufeffName\tCount\nheron\t5\n', 'utf16le'),
    'a.xlsx as a page': page,
    'a.xlsx with commas': 'name,count\nheron,5\n',
    'a.ppt as a page': page,
    'a.pdf as a page': page,
    'a.jpg as a page': page,
    'a.key as text': 'A text about a heron\n',
    'a.zip as text': 'A text about a heron\n',
    'a.doc in Latin-1': Buffer.from('Über den heron, größer als sonst, für jeden schön', 'latin1'),
  })

  describePlaces('messages', {
    'a.eml in its subject': crlf(`${HEAD.replace('Birds', 'The heron')}${ENCODED}`),
    'a.eml in a name of a sender': crlf(`${HEAD.replace('Ada', '"A heron"')}${ENCODED}`),
    'a.eml in base64': message,
    'a.eml in quoted-printable': crlf(
      `${HEAD}Content-Type: text/plain\nContent-Transfer-Encoding: quoted-printable\n\nA her=\non=20stands\n`,
    ),
    'a.eml in the page beside a stub': multipart('alternative', asText('Please turn on HTML.'), asPage('A heron')),
    'a.eml in the text beside a page': multipart('alternative', asText('A heron'), asPage('See the text.')),
    'a.eml in a page after a text': multipart('mixed', asText('see below'), asPage('A heron')),
    'a.eml in a text after a page': multipart('mixed', asPage('see below'), asText('A heron')),
    'a.eml in an attachment': multipart('mixed', asText('see'), attached('text/plain', 'a.txt', 'A heron')),
    'a.eml in an archive': multipart('mixed', asText('see'), attached('application/zip', 'a.zip', 'PK\x05\x06heron\0')),
    'a.eml in a signed part': multipart('signed; protocol="application/pgp-signature"', asText('A heron')),
    'a.eml in a signature that packs it': crlf(
      `${HEAD}Content-Type: application/pkcs7-mime; smime-type=signed-data\nContent-Transfer-Encoding: base64\n\n${Buffer.concat([Buffer.from('308006092a864886f70d010702', 'hex'), Buffer.from('heron')]).toString('base64')}\n`,
    ),
    'a.eml in an invitation': multipart(
      'alternative',
      asText('You are invited'),
      'Content-Type: text/calendar; method=REQUEST\n\nBEGIN:VCALENDAR\nSUMMARY:heron\nEND:VCALENDAR',
    ),
    '1700000000.M1P2.host:2,S of a Maildir': message,
    'message without extension': message,
    'a.txt that a program saved': message,
    'a.emlx of Apple': `${message.length}\n${message}<?xml version="1.0"?><plist></plist>\n`,
    'a.mbox first': `From ada@example.com Thu Feb 29 10:00:00 2024\n${message}\nFrom b@example.com Thu Feb 29 10:00:00 2024\n${crlf(`${HEAD}\negret`)}`,
    'a.mbox last': `From ada@example.com Thu Feb 29 10:00:00 2024\n${crlf(`${HEAD}\negret`)}\nFrom b@example.com Thu Feb 29 10:00:00 2024\n${message}`,
    'a.mht in its page': crlf(asMhtml()),
  })
})

function asMhtml(): string {
  return `Subject: Exported\nMIME-Version: 1.0\nContent-Type: multipart/related; boundary=B\n\n--B\nContent-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n<html><body><p>A heron=20stands</p></body></html>\n--B--\n`
}
