import { type MadeEntry, makeZip } from './make-zip.ts'

const WORD = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main'
const SLIDES = 'http://schemas.openxmlformats.org/presentationml/2006/main'
const DRAWING = 'http://schemas.openxmlformats.org/drawingml/2006/main'
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006'
const SHEETS = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const OFFICE = 'urn:oasis:names:tc:opendocument:xmlns'

export const TYPES = {
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  odt: 'application/vnd.oasis.opendocument.text',
  ods: 'application/vnd.oasis.opendocument.spreadsheet',
  epub: 'application/epub+zip',
  rtf: 'application/rtf',
} as const

function contentTypes(parts: Readonly<Record<string, string>>): string {
  const overrides = Object.entries(parts).map(
    ([part, type]) =>
      `<Override PartName="/${part}" ContentType="application/vnd.openxmlformats-officedocument.${type}+xml"/>`,
  )
  const byDefault = '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
  return `<Types xmlns="${PACKAGE}/content-types">${byDefault}<Default Extension="xml" ContentType="application/xml"/>${overrides.join('')}</Types>`
}

function relations(targets: Readonly<Record<string, readonly [type: string, target: string]>>): string {
  const all = Object.entries(targets).map(
    ([id, [type, target]]) => `<Relationship Id="${id}" Type="${RELATIONS}/${type}" Target="${target}"/>`,
  )
  return `<Relationships xmlns="${PACKAGE}/relationships">${all.join('')}</Relationships>`
}

/** A Word document with this body, in WordprocessingML; `bomb` is its main part instead. */
export function makeDocx(body: string, bomb?: MadeEntry): Buffer {
  const heading = (level: number) =>
    `<w:style w:type="paragraph" w:styleId="Heading${level}"><w:name w:val="heading ${level}"/></w:style>`
  return makeZip({
    '[Content_Types].xml': contentTypes({ 'word/document.xml': 'wordprocessingml.document.main' }),
    '_rels/.rels': relations({ r1: ['officeDocument', 'word/document.xml'] }),
    'word/_rels/document.xml.rels': relations({ r1: ['styles', 'styles.xml'] }),
    'word/styles.xml': `<w:styles xmlns:w="${WORD}">${heading(1)}${heading(2)}</w:styles>`,
    'word/document.xml': bomb ?? `<w:document xmlns:w="${WORD}"><w:body>${body}</w:body></w:document>`,
  })
}

export function paragraph(text: string, style = ''): string {
  const properties = style === '' ? '' : `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>`
  return `<w:p>${properties}<w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`
}

/** Slides, each a title and one text. */
export function makePptx(slides: readonly (readonly [title: string, text: string])[]): Buffer {
  const shape = (id: number, type: string, text: string) =>
    `<p:sp><p:nvSpPr><p:cNvPr id="${id}" name="s"/><p:cNvSpPr/><p:nvPr><p:ph type="${type}"/></p:nvPr></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:txBody></p:sp>`
  const slide = ([title, text]: readonly [string, string]) =>
    `<p:sld xmlns:p="${SLIDES}" xmlns:a="${DRAWING}"><p:cSld><p:spTree>${shape(2, 'title', title)}${shape(3, 'body', text)}</p:spTree></p:cSld></p:sld>`
  const numbers = slides.map((_, index) => index + 1)
  const ids = numbers.map((number) => `<p:sldId id="${255 + number}" r:id="r${number}"/>`).join('')
  return makeZip({
    '[Content_Types].xml': contentTypes({
      'ppt/presentation.xml': 'presentationml.presentation.main',
      ...Object.fromEntries(numbers.map((number) => [`ppt/slides/slide${number}.xml`, 'presentationml.slide'])),
    }),
    '_rels/.rels': relations({ r1: ['officeDocument', 'ppt/presentation.xml'] }),
    'ppt/presentation.xml': `<p:presentation xmlns:p="${SLIDES}" xmlns:r="${RELATIONS}"><p:sldIdLst>${ids}</p:sldIdLst></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': relations(
      Object.fromEntries(numbers.map((number) => [`r${number}`, ['slide', `slides/slide${number}.xml`] as const])),
    ),
    ...Object.fromEntries(slides.map((each, index) => [`ppt/slides/slide${index + 1}.xml`, slide(each)])),
  })
}

/** A workbook: the rows of each sheet in SpreadsheetML, the shared strings, and the number format of each style. */
export function makeXlsx(
  sheets: Readonly<Record<string, string>>,
  {
    strings = [],
    formats = [],
    is1904 = false,
  }: { strings?: readonly string[]; formats?: readonly (number | string)[]; is1904?: boolean } = {},
): Buffer {
  const names = Object.keys(sheets)
  const custom = formats.flatMap((format, index) =>
    typeof format === 'string' ? [[164 + index, format] as const] : [],
  )
  const numFmts = custom.map(
    ([id, code]) => `<numFmt numFmtId="${id}" formatCode="${code.replaceAll('"', '&quot;')}"/>`,
  )
  const xfs = formats.map((format, index) => `<xf numFmtId="${typeof format === 'string' ? 164 + index : format}"/>`)
  return makeZip({
    '[Content_Types].xml': contentTypes({ 'xl/workbook.xml': 'spreadsheetml.sheet.main' }),
    '_rels/.rels': relations({ r1: ['officeDocument', 'xl/workbook.xml'] }),
    'xl/workbook.xml': `<workbook xmlns="${SHEETS}" xmlns:r="${RELATIONS}"><workbookPr date1904="${is1904 ? 1 : 0}"/><sheets>${names.map((name, index) => `<sheet name="${name}" sheetId="${index + 1}" r:id="r${index + 1}"/>`).join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relations(
      Object.fromEntries(
        names.map((_, index) => [`r${index + 1}`, ['worksheet', `worksheets/sheet${index + 1}.xml`] as const]),
      ),
    ),
    'xl/styles.xml': `<styleSheet xmlns="${SHEETS}"><numFmts>${numFmts.join('')}</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs>${xfs.join('')}</cellXfs></styleSheet>`,
    'xl/sharedStrings.xml': `<sst xmlns="${SHEETS}">${strings.map((text) => `<si><t>${text}</t></si>`).join('')}</sst>`,
    ...Object.fromEntries(
      Object.values(sheets).map((rows, index) => [
        `xl/worksheets/sheet${index + 1}.xml`,
        `<worksheet xmlns="${SHEETS}"><sheetData>${rows}</sheetData></worksheet>`,
      ]),
    ),
  })
}

/** An OpenDocument of this type, with this body; `variant` follows the type, such as `-web`. */
export function makeOdf(
  type: 'text' | 'spreadsheet' | 'presentation',
  body: string,
  variant = '',
  parts: Readonly<Record<string, string>> = {},
): Buffer {
  const mimeType = `application/vnd.oasis.opendocument.${type}${variant}`
  const names = ['office', 'text', 'table', 'draw', 'presentation', 'form', 'style']
  const others = 'xmlns:svg="urn:svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
  const spaces = [...names.map((name) => `xmlns:${name}="${OFFICE}:${name}:1.0"`), others].join(' ')
  return makeZip({
    mimetype: { content: mimeType, isStored: true },
    'META-INF/manifest.xml': `<manifest:manifest xmlns:manifest="${OFFICE}:manifest:1.0"><manifest:file-entry manifest:full-path="/" manifest:media-type="${mimeType}"/></manifest:manifest>`,
    'content.xml': `<office:document-content ${spaces}><office:body><office:${type}>${body}</office:${type}></office:body></office:document-content>`,
    ...parts,
  })
}

/** A book of these chapters, in XHTML; `encryption` is the algorithm that protects its parts. */
export function makeEpub(chapters: readonly string[], encryption?: string): Buffer {
  const ids = chapters.map((_, index) => `c${index + 1}`)
  return makeZip({
    mimetype: { content: 'application/epub+zip', isStored: true },
    ...(encryption && {
      'META-INF/encryption.xml': `<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><e:EncryptedData xmlns:e="http://www.w3.org/2001/04/xmlenc#"><e:EncryptionMethod Algorithm="${encryption}"/></e:EncryptedData></encryption>`,
    }),
    'META-INF/container.xml':
      '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles><rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
    'book.opf': `<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Book</dc:title></metadata><manifest>${ids.map((id) => `<item id="${id}" href="${id}.xhtml" media-type="application/xhtml+xml"/>`).join('')}</manifest><spine>${ids.map((id) => `<itemref idref="${id}"/>`).join('')}</spine></package>`,
    ...Object.fromEntries(
      chapters.map((chapter, index) => [
        `c${index + 1}.xhtml`,
        `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>c</title></head><body>${chapter}</body></html>`,
      ]),
    ),
  })
}
