import { describe, expect, it } from 'vitest'
import { pluck } from '../../contract/service-client.ts'
import { serviceOfFile } from './ingested.ts'
import { makeZip } from './make-zip.ts'
import { makeDocx, makeEpub, makeOdf, makePptx, paragraph, TYPES } from './office-files.ts'
import { readHere } from './read-here.ts'

const ingested = serviceOfFile()

const RTF = '{\\rtf1\\ansi{\\fonttbl{\\f0 Arial;}}\\f0 Mooring lines of \\b flax\\b0\\par Gr\\u246?\\u223?e\\par}'
const TABLE =
  '<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Port</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>a|b</w:t></w:r></w:p></w:tc></w:tr><w:tr><w:tc><w:p><w:r><w:t>Brest</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>7 m</w:t></w:r></w:p></w:tc></w:tr></w:tbl>'
/** 391 KB of archive that unpack to 170 MB of paragraphs. */
const BOMB = { content: paragraph('tide ').repeat(16_000), times: 138 }

const bytesOf = (buffer: Buffer) => new Uint8Array(buffer)

describe('office documents', () => {
  it('office documents are found by their words, headings as in Markdown', async () => {
    const body = [paragraph('Harbour', 'Heading1'), paragraph('The snake_case tide'), TABLE].join('')
    const ropes =
      '<table:table table:name="Ropes"><table:table-row><table:table-cell office:value-type="string"><text:p>Hemp</text:p></table:table-cell><table:table-cell office:value-type="date" office:date-value="2024-02-29"><text:p>29.02.24</text:p></table:table-cell></table:table-row></table:table>'
    const { records, found, client } = await ingested(
      { name: 'a.docx', type: TYPES.docx, content: bytesOf(makeDocx(body)) },
      {
        name: 'a.pptx',
        type: TYPES.pptx,
        content: bytesOf(
          makePptx([
            ['Lights', 'Fresnel lens'],
            ['Horns', 'Diaphone'],
          ]),
        ),
      },
      {
        name: 'a.odt',
        type: TYPES.odt,
        content: bytesOf(makeOdf('text', '<text:h text:outline-level="2">Moorings</text:h><text:p>A bollard</text:p>')),
      },
      { name: 'a.ods', type: TYPES.ods, content: bytesOf(makeOdf('spreadsheet', ropes)) },
      {
        name: 'a.epub',
        type: TYPES.epub,
        content: bytesOf(makeEpub(['<h1>One</h1><p>Ishmael</p>', '<h1>Two</h1><p>whale</p>'])),
      },
      { name: 'a.rtf', type: 'text/rtf', content: RTF },
    )
    expect(records.map(({ ingestion_status: status }) => status)).toEqual(Array.from(records, () => 'completed'))
    expect(records.map(({ assets }) => pluck(assets, 'text'))).toEqual([
      ['# Harbour\n\nThe snake_case tide\n\n| Port | a\\|b |\n| --- | --- |\n| Brest | 7 m |'],
      ['# Lights\n\nFresnel lens', '# Horns\n\nDiaphone'],
      ['## Moorings\n\nA bollard'],
      ['## Ropes\n\n| Hemp | 29.02.24 |'],
      ['# One\n\nIshmael\n\n# Two\n\nwhale'],
      ['Mooring lines of flax\n\nGröße'],
    ])
    expect(records.map(({ assets }) => pluck(assets, 'trace'))).toEqual([
      [[{ unit: 'paragraph', from: 1, to: 3 }]],
      [[{ unit: 'slide', from: 1, to: 1 }], [{ unit: 'slide', from: 2, to: 2 }]],
      [[{ unit: 'paragraph', from: 1, to: 2 }]],
      [[{ unit: 'row', from: 1, to: 1, sheet: 'Ropes' }]],
      [[{ unit: 'paragraph', from: 1, to: 4 }]],
      [[{ unit: 'paragraph', from: 1, to: 2 }]],
    ])
    for (const [index, word] of ['Brest', 'Diaphone', 'bollard', 'Hemp', 'Ishmael', 'flax'].entries()) {
      expect([word, await found(word)]).toEqual([word, [records[index]?.id]])
    }
    const asset = await client.get(`/assets/${records[0]?.id}.0`)
    expect(asset.headers.get('content-type')).toMatch(/^text\/markdown/)
  })

  it('office documents are recognised by their bytes, not their type', async () => {
    for (const type of ['text/plain', 'application/zip', 'application/octet-stream']) {
      expect((await readHere(type, [makeDocx(paragraph('spring tide'))])).text).toBe('spring tide')
    }
  })

  it.each(['-web', '-master', '-master-template'])('an OpenDocument text of the kind %s is read', async (variant) => {
    const { text } = await readHere(TYPES.odt, [makeOdf('text', '<text:p>A bollard</text:p>', variant)])
    expect(text).toBe('A bollard')
  })

  it('notes and comments on words are read after them', async () => {
    const note = (text: string) =>
      `<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation><text:note-body><text:p>${text}</text:p></text:note-body></text:note>`
    const comment = (text: string) => `<office:annotation><text:p>${text}</text:p></office:annotation>`
    const cell = `<table:table-cell><text:p>Brest${note('dredged')}</text:p></table:table-cell>`
    const body = [
      `<text:p>Spring${comment('Which year?')} tide${note('Twice a month')}</text:p>`,
      `<table:table><table:table-row>${cell}</table:table-row></table:table>`,
    ]
    const { text } = await readHere(TYPES.odt, [makeOdf('text', body.join(''))])
    expect(text).toBe('Spring tide\n\n> Which year?\n\n> Twice a month\n\n| Brest > dredged |')
  })

  it('office documents without text end as partial', async () => {
    expect((await readHere(TYPES.docx, [makeDocx('<w:p/>')])).end).toMatchObject({
      status: 'partial',
      failure: expect.stringMatching(/no text/),
    })
  })

  it('a template that holds only styles ends as partial', async () => {
    const template = makeZip({
      mimetype: { content: 'application/vnd.oasis.opendocument.text-template', isStored: true },
      'styles.xml': '<office:document-styles/>',
      'META-INF/manifest.xml': '<manifest:manifest/>',
    })
    expect((await readHere(TYPES.odt, [template])).end).toMatchObject({
      status: 'partial',
      failure: expect.stringMatching(/no text/),
    })
  })

  it('a message about a broken document is ours, not the advice of its parser to programmers', async () => {
    const empty = makeZip({ mimetype: { content: TYPES.odt, isStored: true } })
    const foreign = makeZip({ 'notes.txt': 'tide' })
    const messageOf = async (bytes: Buffer) => await readHere(TYPES.odt, [bytes]).then(() => 'no fault', String)
    expect(await messageOf(empty)).toBe('Error: The document cannot be read: its part content.xml is missing')
    expect(await messageOf(foreign)).toBe(
      'Error: The document cannot be read: its format is not the one that its name says',
    )
  })

  it('broken office documents end as failed', async () => {
    const whole = makeDocx(paragraph('tide'))
    for (const bytes of [whole.subarray(0, whole.length / 2), makeZip({ 'a.txt': 'tide' })]) {
      await expect(readHere(TYPES.docx, [bytes])).rejects.toThrow(/damaged|cannot be read/)
    }
  })

  it.each([
    ['docx', TYPES.docx, 'word/document.xml'],
    ['xlsx', TYPES.xlsx, 'xl/workbook.xml'],
    ['odt', TYPES.odt, 'content.xml'],
    ['epub', TYPES.epub, 'book.opf'],
  ])('a %s in an encrypted archive ends as failed', async (_, type, part) => {
    const locked = makeZip({ mimetype: { content: type, isStored: true }, [part]: { content: 'x', isEncrypted: true } })
    await expect(readHere(type, [locked])).rejects.toThrow(/encrypted.*password/)
  })

  it('a book with rights management ends as failed', async () => {
    const locked = makeEpub(['\u0017\u00f7%\u00e4'], 'http://www.w3.org/2001/04/xmlenc#aes128-cbc')
    await expect(readHere(TYPES.epub, [locked])).rejects.toThrow(/encrypted/)
  })

  it.each(['http://www.idpf.org/2008/embedding', 'http://ns.adobe.com/pdf/enc#RC'])(
    'a book of which only fonts are obfuscated by %s is read',
    async (algorithm) => {
      const { text, end } = await readHere(TYPES.epub, [makeEpub(['<p>Ishmael</p>'], algorithm)])
      expect([text, end.status]).toEqual(['Ishmael', 'completed'])
    },
  )

  it('archives that would unpack to gigabytes end as failed at once', async () => {
    const open = makeDocx('', BOMB)
    expect(open.length).toBeLessThan(400_000)
    const lying = makeDocx('', { ...BOMB, declaredBytes: 5_000 })
    const { records, found } = await ingested(
      { name: 'bomb.docx', type: TYPES.docx, content: bytesOf(open) },
      { name: 'liar.docx', type: TYPES.docx, content: bytesOf(lying) },
      { name: 'good.docx', type: TYPES.docx, content: bytesOf(makeDocx(paragraph('zebra'))) },
    )
    expect(records).toMatchObject([
      { ingestion_status: 'failed', ingestion_error: expect.stringMatching(/unpacks to \d+ MiB/), assets: [] },
      { ingestion_status: 'failed', ingestion_error: expect.stringMatching(/cannot be read/), assets: [] },
      { ingestion_status: 'completed' },
    ])
    expect(await found('zebra')).toEqual([records[2]?.id])
  })

  it('office documents with too many files end as failed', async () => {
    const files = Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`word/${index}.xml`, '']))
    await expect(readHere(TYPES.docx, [makeZip(files)])).rejects.toThrow(/10001 files/)
  })
})
