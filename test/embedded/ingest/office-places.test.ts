import { describe } from 'vitest'
import { describePlaces } from './describe-places.ts'
import { makeZip } from './make-zip.ts'
import { makeDocx, makeEpub, makePptx, paragraph } from './office-files.ts'

const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const RUBY =
  '<w:p><w:r><w:ruby><w:rubyPr/><w:rt><w:r><w:t>y</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>he</w:t></w:r></w:rubyBase></w:ruby></w:r><w:r><w:t>ron</w:t></w:r></w:p>'
const HERON_ROW = '<row><c t="inlineStr"><is><t>heron</t></is></c></row>'

describe('text of office documents is found at its place, or what is passed over is named', () => {
  describePlaces('workbooks', {
    'a.xlsx in a cell': workbook({}, '<row><c t="inlineStr"><is><t>heron</t></is></c></row>'),
    'a.xlsx in runs of a cell': workbook(
      {},
      '<row><c t="inlineStr"><is><r><t>he</t></r><r><t>ron</t></r></is></c></row>',
    ),
    'a.xlsx in a note': workbook({
      comments:
        '<comments><commentList><comment ref="A1"><text><r><t>heron</t></r></text></comment></commentList></comments>',
    }),
    'a.xlsx in a thread': workbook({
      threadedComment:
        '<ThreadedComments><threadedComment ref="A1"><text>heron</text></threadedComment></ThreadedComments>',
    }),
    'a.xlsx in a text box': workbook({
      drawing:
        '<x:wsDr><x:sp><x:txBody><a:p><a:r><a:t>he</a:t></a:r><a:r><a:t>ron</a:t></a:r></a:p></x:txBody></x:sp></x:wsDr>',
    }),
    'a.xlsx in a control': workbook({
      vmlDrawing: '<xml><v:shape><v:textbox><div><font>heron</font></div></v:textbox></v:shape></xml>',
    }),
    'a.xlsx in the title of a chart': workbook({ drawing: '<x:wsDr/>' }, '', {
      'xl/parts/_rels/drawing.xml.rels': related(['chart', 'chart.xml']),
      'xl/parts/chart.xml': '<c:chart><c:title><a:p><a:r><a:t>heron</a:t></a:r></a:p></c:title></c:chart>',
    }),
    'a.xlsx in a footer': workbook(
      {},
      '',
      {},
      '<headerFooter><oddFooter>&amp;L&amp;"Arial,Bold"heron &amp;P</oddFooter></headerFooter>',
    ),
    'a.xlsx in the name of a sheet': workbook({}, '<row><c><v>1</v></c></row>', {}, '', 'heron'),
    'a.xlsx with another prefix': makeZip(mapped((text) => text.replaceAll('r:', 'rel:'))),
    'a.xlsx with backslashes': makeZip(
      mapped(
        (text) => text,
        (name) => name.replaceAll('/', '\\'),
      ),
    ),
    'a.xlsx in UTF-16': makeZip(mapped((text) => ({ content: Buffer.from(`\ufeff${text}`, 'utf16le') }))),
    'a.xlsx in another folder': makeZip(
      mapped(
        (text) => text.replaceAll('xl/', 'book/'),
        (name) => name.replace(/^xl/, 'book'),
      ),
    ),
    'a.xlsx whose sheet is missing': makeZip(
      mapped(
        (text) => text,
        (name) => name.replace('sheet1', 'other'),
      ),
    ),
  })

  describePlaces('documents of Word', {
    'a.docx in its body': makeDocx(paragraph('heron')),
    'a.docx in a cell': makeDocx(`<w:tbl><w:tr><w:tc>${paragraph('heron')}</w:tc></w:tr></w:tbl>`),
    'a.docx in runs': makeDocx('<w:p><w:r><w:t>he</w:t></w:r><w:r><w:t>ron</w:t></w:r></w:p>'),
    'a.docx inserted': makeDocx('<w:p><w:ins><w:r><w:t>heron</w:t></w:r></w:ins></w:p>'),
    'a.docx in a text box': makeDocx(
      `<w:p><w:r><w:pict><v:textbox xmlns:v="v"><w:txbxContent>${paragraph('heron')}</w:txbxContent></v:textbox></w:pict></w:r></w:p>`,
    ),
    'a.docx in a content control': makeDocx(`<w:sdt><w:sdtContent>${paragraph('heron')}</w:sdtContent></w:sdt>`),
    'a.docx below a reading': makeDocx(RUBY),
    'a.docx in a file it includes, with readings elsewhere': makeZip({
      ...docxParts(
        `egret</w:t></w:r></w:p>${RUBY.replace('he<', 'e<')}<w:altChunk xmlns:r="${OFFICE}" r:id="r1"/><w:p><w:r><w:t>`,
      ),
      'word/_rels/document.xml.rels': related(['aFChunk', 'part.txt']),
      'word/part.txt': 'heron',
    }),
    'a.docx in a reading': makeDocx(RUBY.replace('<w:t>y<', '<w:t>heron<')),
    'a.docx with another prefix': makeZip(
      renamed(docxParts(), (text) => text.replaceAll('w:', 'ns0:').replaceAll(':w=', ':ns0=')),
    ),
    'a.docx without a prefix': makeZip(
      renamed(docxParts(), (text) => text.replaceAll(/(<\/?)w:/g, '$1').replaceAll('xmlns:w=', 'xmlns=')),
    ),
    'a.docx with backslashes': makeZip(
      renamed(
        docxParts(),
        (text) => text,
        (name) => name.replaceAll('/', '\\'),
      ),
    ),
    ...Object.fromEntries(
      ['footnotes', 'endnotes', 'comments', 'header1', 'footer1', 'charts/chart1', 'diagrams/data1'].map((part) => [
        `a.docx in ${part}`,
        makeZip({
          ...docxParts('egret'),
          [`word/${part}.xml`]: `<?xml version="1.0"?><x xmlns:a="a"><a:p><a:r><a:t>heron</a:t></a:r></a:p></x>`,
        }),
      ]),
    ),
  })

  describePlaces('books', {
    'a.epub in a chapter': makeEpub(['<p>heron</p>']),
    'a.epub with markup within': makeEpub(['<p>h<b>er</b>on</p>']),
    'a.epub below readings': makeEpub(['<p><ruby>he<rt>x</rt>ron<rt>y</rt></ruby></p>']),
    'a.epub in a reading': makeEpub(['<p><ruby>x<rt>heron</rt></ruby>y</p>']),
  })

  describePlaces('slides', {
    'a.pptx in a title': makePptx([['heron', 'x']]),
    'a.pptx in a text': makePptx([['x', 'heron']]),
  })
})

function related(...relations: readonly (readonly [type: string, target: string])[]): string {
  const all = relations.map(
    ([type, target], index) => `<Relationship Id="r${index + 1}" Type="${OFFICE}/${type}" Target="${target}"/>`,
  )
  return `<?xml version="1.0"?><Relationships>${all.join('')}</Relationships>`
}

/** The parts of a workbook whose only sheet has these rows and refers to these other parts, each by the type of its relation. */
function workbookParts(
  parts: Readonly<Record<string, string>>,
  rows = '',
  after = '',
  name = 'One',
): Record<string, string> {
  const types = Object.keys(parts)
  const main = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml'
  return {
    '[Content_Types].xml': `<?xml version="1.0"?><Types><Override PartName="/xl/workbook.xml" ContentType="${main}"/></Types>`,
    '_rels/.rels': related(['officeDocument', 'xl/workbook.xml']),
    'xl/workbook.xml': `<?xml version="1.0"?><workbook xmlns:r="${OFFICE}"><sheets><sheet name="${name}" sheetId="1" r:id="r1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': related(['worksheet', 'parts/sheet1.xml']),
    'xl/parts/sheet1.xml': `<?xml version="1.0"?><worksheet><sheetData>${rows}</sheetData>${after}</worksheet>`,
    'xl/parts/_rels/sheet1.xml.rels': related(...types.map((type) => [type, `${type}.xml`] as const)),
    ...Object.fromEntries(Object.entries(parts).map(([type, xml]) => [`xl/parts/${type}.xml`, xml])),
  }
}

function workbook(
  parts: Readonly<Record<string, string>>,
  rows = '',
  more: Readonly<Record<string, string>> = {},
  after = '',
  name = 'One',
): Buffer {
  return makeZip({ ...workbookParts(parts, rows, after, name), ...more })
}

/** Parts with their texts and names changed by these functions. */
function renamed<T>(
  parts: Readonly<Record<string, string>>,
  change: (text: string) => T,
  rename = (name: string) => name,
): Record<string, T> {
  return Object.fromEntries(Object.entries(parts).map(([name, text]) => [rename(name), change(text)]))
}

function mapped<T>(change: (text: string) => T, rename?: (name: string) => string): Record<string, T> {
  return renamed(workbookParts({}, HERON_ROW), change, rename)
}

function docxParts(word = 'heron'): Record<string, string> {
  const main = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml'
  return {
    '[Content_Types].xml': `<?xml version="1.0"?><Types><Override PartName="/word/document.xml" ContentType="${main}"/></Types>`,
    '_rels/.rels': related(['officeDocument', 'word/document.xml']),
    'word/document.xml': `<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${paragraph(word)}</w:body></w:document>`,
  }
}
