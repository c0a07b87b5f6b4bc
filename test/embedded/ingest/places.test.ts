import { describe } from 'vitest'
import { describePlaces } from './describe-places.ts'
import { assemblePdf } from './make-pdf.ts'

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

const BODY = 'BT /F 12 Tf 72 720 Td (The body of the page) Tj ET'

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

  describePlaces('plain text and its kinds', {
    'a.log in the colours of a terminal': 'the \x1b[1;32mheron\x1b[0m, \x1b]0;title\x07done\n',
    'a.log coloured within': 'he\x1b[31mr\x1b[0mon\n',
    'a.txt struck over': 'h\bhe\ber\bro\bon\bn\n',
    'a.txt underlined': '_\bh_\be_\br_\bo_\bn\n',
    'a.log of a chat': '<ada> \x02he\x0304,01ron\x0f\n',
    'page without extension struck over': 'NAME\n  h\bhe\ber\bro\bon\bn\n',
    'a.csv in a quoted cell': 'a,b\n"x, heron",1\n',
    'a.csv with colours': 'a,b\n\x1b[31mheron\x1b[0m,1\n',
    'a.json after an escape': '{"a": "one\\nheron"}\n',
    'a.json escaped': '{"a": "h\\u0065ron"}\n',
    'a.ipynb in a cell': '{"cells": [{"source": ["x\\n", "\\theron\\n"]}]}\n',
    'a.vcf folded': crlf('BEGIN:VCARD\nNOTE:A he\n ron\nEND:VCARD\n'),
    'a.vcf after an escape': crlf('BEGIN:VCARD\nNOTE:one\\nheron\nEND:VCARD\n'),
    'a.vcf quoted-printable': crlf('BEGIN:VCARD\nN;ENCODING=QUOTED-PRINTABLE:=68er=\non\nEND:VCARD\n'),
    'a.ics folded': crlf('BEGIN:VCALENDAR\nSUMMARY:A he\n ron\nEND:VCALENDAR\n'),
    'a.ics folded at a tab': crlf('BEGIN:VCALENDAR\nSUMMARY:A he\n\tr\n\ton\nEND:VCALENDAR\n'),
    'a.man in bold within': '.TH X 1\nA h\\fBer\\fPon\n',
    'heron.1 with signs': '.TH X 1\nA h\\&er\\:on\n',
    'a.man after a sign': '.TH X 1\nA \\(lqheron\\(rq\\-like\n',
    'a.srt in italics within': '1\n00:00:01,000 --> 00:00:02,000\n<i>h</i>eron\n',
    'a.ass after a break': 'Dialogue: 0,0:00:01.00,0:00:02.00,D,,0,0,0,,one\\N{\\i1}he{\\i0}ron\n',
  })

  describePlaces('XML and its kinds', {
    'a.xml with markup within': '<a>h<b>er</b>on</a>',
    'a.xml with a comment within': '<a>he<!-- x -->ron</a>',
    'a.xml with entities': '<a>h&#101;r&#x6f;n</a>',
    'a.xml in CDATA': '<a><![CDATA[heron]]></a>',
    'a.xml in an attribute': '<a b="heron"/>',
    'a.svg in a span': '<svg><text>h<tspan x="3">er</tspan>on</text></svg>',
    'a.fb2 emphasized': '<p>h<emphasis>er</emphasis>on</p>',
    'a.opml in an outline': '<outline text="heron"/>',
    'a.fodt in a span': '<?xml version="1.0"?><text:p>h<text:span text:style-name="T1">er</text:span>on</text:p>',
    'a.doc of Word in XML':
      '<?xml version="1.0"?><w:p><w:r><w:t>he</w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>ron</w:t></w:r></w:p>',
  })

  describePlaces('pages of HTML', {
    'a.html in its title': '<title>heron</title><p>x',
    'a.html with markup within': '<p>h<b>er</b>on',
    'a.html with entities': '<p>h&#101;r&#x6f;n',
    'a.html with a place to break': '<p>he<wbr>ron',
    'a.html with a comment within': '<p>he<!-- x -->ron',
    'a.html in a cell': '<table><tr><td>heron<td>x</table>',
    'a.html preformatted': '<pre>heron\nx</pre>',
    'a.html deleted and inserted within': '<p>h<del>er</del><ins>on</ins>',
    'a.html in old markup within': '<p>h<big>er</big><strike>on</strike>',
    'a.html under a reading': '<p><ruby>he<rt>x</rt>ron<rt>y</rt></ruby>',
    'a.html in a reading': '<p><ruby>x<rp>(</rp><rt>heron</rt><rp>)</rp></ruby>y',
    'a.html in a label of a picture': '<p>x<img alt="heron">',
    'a.html in a field': '<p>x<input value="heron"><textarea>y</textarea>',
    'a.html in a button': '<p>x<input type=submit value="heron">',
    'a.html in a drawing': '<p>x<svg><text>heron</text></svg>',
  })

  const objects = { page: '', catalogue: '' }
  describePlaces('PDF', {
    'a.pdf on its page': drawnPdf('BT /F 12 Tf 72 720 Td (A heron) Tj ET', objects),
    'a.pdf in a field': drawnPdf(BODY, {
      ...objects,
      annotation: '/Subtype/Widget/FT/Tx/T(a)/V(heron)/DA(/F 12 Tf 0 g)/F 4',
    }),
    'a.pdf in a note': drawnPdf(BODY, { ...objects, annotation: '/Subtype/Text/Contents(A heron)/F 4' }),
    'a.pdf in typed text': drawnPdf(BODY, {
      ...objects,
      annotation: '/Subtype/FreeText/Contents(A heron)/DA(/F 12 Tf 0 g)/F 4',
    }),
    'a.pdf in a mark': drawnPdf(BODY, {
      ...objects,
      annotation: '/Subtype/Highlight/QuadPoints[72 670 300 670 72 650 300 650]/Contents(A heron)/F 4',
    }),
    'a.pdf in its outline': drawnPdf(BODY, {
      ...objects,
      extra: ['<</First 8 0 R/Last 8 0 R/Count 1>>', '<</Title(A heron)/Parent 7 0 R/Dest[3 0 R/Fit]>>'],
      catalogue: '/Outlines 7 0 R',
    }),
    'a.pdf in an attachment': drawnPdf(BODY, {
      ...objects,
      extra: [
        '<</Type/Filespec/F(a.txt)/UF(a.txt)/EF<</F 8 0 R>>>>',
        '<</Length 7/Params<</Size 7>>>>stream\nA heron\nendstream',
      ],
      catalogue: '/Names<</EmbeddedFiles<</Names[(a.txt)7 0 R]>>>>',
    }),
    'a.pdf in a scan that has a stamp as text': scannedPdf(),
    'a.pdf cut behind its page': cutPdf(),
  })
})

function asMhtml(): string {
  return `Subject: Exported\nMIME-Version: 1.0\nContent-Type: multipart/related; boundary=B\n\n--B\nContent-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n<html><body><p>A heron=20stands</p></body></html>\n--B--\n`
}

interface PdfParts {
  readonly page: string
  readonly catalogue: string
  readonly annotation?: string
  readonly extra?: readonly string[]
}

/** A PDF of one page; object 6 is its annotation, further ones are `extra`. */
function drawnPdf(content: string, { page, catalogue, annotation, extra = [] }: PdfParts): Buffer {
  const form = '/AcroForm<</Fields[6 0 R]/NeedAppearances true/DA(/F 12 Tf 0 g)/DR<</Font<</F 5 0 R>>>>>>'
  const all = [
    `<</Type/Catalog/Pages 2 0 R${annotation ? form : ''}${catalogue}>>`,
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F 5 0 R>>>>/Contents 4 0 R${annotation ? '/Annots[6 0 R]' : ''}${page}>>`,
    `<</Length ${content.length}>>stream\n${content}\nendstream`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
    `<</Type/Annot/Rect[72 650 300 670]/P 3 0 R${annotation ?? '/Subtype/Link'}>>`,
    ...extra,
  ]
  return assemblePdf(
    all.map((object) => Buffer.from(object)),
    '/Root 1 0 R',
  )
}

function cutPdf(): Buffer {
  const whole = drawnPdf('BT /F 12 Tf 72 720 Td (A heron) Tj ET', { page: '', catalogue: '' })
  return whole.subarray(0, whole.indexOf('xref'))
}

/** A page that a picture fills, with some letters beside it. */
function scannedPdf(): Buffer {
  const data = Buffer.alloc(10_000, 255).fill(0, 4_000, 5_000)
  const image = `<</Type/XObject/Subtype/Image/Width 100/Height 100/ColorSpace/DeviceGray/BitsPerComponent 8/Length ${data.length}>>stream\n`
  const content = `q 595 0 0 842 0 0 cm /I Do Q ${BODY.replace('The body of the page', 'Filed, document 17')}`
  return assemblePdf(
    [
      Buffer.from('<</Type/Catalog/Pages 2 0 R>>'),
      Buffer.from('<</Type/Pages/Kids[3 0 R]/Count 1>>'),
      Buffer.from(
        '<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F 5 0 R>>/XObject<</I 6 0 R>>>>/Contents 4 0 R>>',
      ),
      Buffer.from(`<</Length ${content.length}>>stream\n${content}\nendstream`),
      Buffer.from('<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>'),
      Buffer.concat([Buffer.from(image), data, Buffer.from('\nendstream')]),
    ],
    '/Root 1 0 R',
  )
}
