import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { mimeOf } from '../../../src/contract/mime.ts'
import { textsBesideCells } from '../../../src/embedded/ingest/readers/compound.ts'
import { pluck } from '../../contract/service-client.ts'
import { needs } from '../../support/needs.ts'
import { serviceOfFile } from './ingested.ts'
import { makeCompound, makeMsg } from './make-compound.ts'
import { readHere } from './read-here.ts'

const ingested = serviceOfFile()

const sample = (name: string) => readFileSync(join(import.meta.dirname, 'samples', name))
const read = async (name: string, bytes = sample(name)) => await readHere(mimeOf(name), [bytes])

afterEach(() => {
  vi.unstubAllEnvs()
})

describe('documents of older office programs', () => {
  it.each([
    ['old.doc', /lighthouse[\s\S]*larch[\s\S]*Brest[\s\S]*Маяк/, 'paragraph'],
    ['old.xls', /\| Hemp \| 120 \|[\s\S]*\| Sisal \| 80 \|/, 'row'],
    ['dates.xls', /\| 2004-01-02 \| 2004-01-02 \|/, 'row'],
  ])('%s is read', async (name, words, unit) => {
    needs('catdoc', 'xls2csv')
    const { passages, text, end } = await read(name)
    expect({ text, end }).toMatchObject({ text: expect.stringMatching(words), end: { status: 'completed' } })
    expect(passages[0]?.unit).toBe(unit)
  })

  it('of an old workbook, names of sheets, boxes, notes and margins are read beside the cells', async () => {
    needs('xls2csv')
    const wide = (text: string) => Buffer.from(text, 'utf16le')
    const workbook = Buffer.concat([
      record(0x85, Buffer.alloc(6), [6, 0], 'Prices'),
      record(0x14, [12, 0, 0], '&L&"Arial"Yarn'),
      record(0x1b6, Buffer.alloc(10), [9, 0], Buffer.alloc(6)),
      record(0x3c, [0], 'heron'),
      record(0x3c, [1], wide(' 鷺 x')),
      record(0x3c, Buffer.alloc(16)),
      record(0x100d, [0, 0, 5, 0], 'Total'),
    ])
    expect(textsBesideCells(workbook)).toEqual(['Prices', 'Ya', 'heron 鷺 x', 'Total'])
    expect((await read('old.xls')).text).toMatch(/\| Sisal \| 80 \|[\s\S]*\n\w/)
  })

  it.each([
    [
      'places.doc',
      ['heading', 'body', 'list', 'cell', 'celltwo', 'footnote', 'endnote', 'comment', 'textbox', 'shape', 'wordart'],
      ['header', 'headerleft', 'headerfirst', 'footer', 'link', 'inserted', 'field'],
    ],
    [
      'places.xls',
      ['cell', 'link', 'formula', 'rich', 'span', 'secondline', 'second', 'sheetname', 'comment', 'header', 'footer'],
      ['textbox', 'shape', 'group', 'wordart', 'button', 'charttitle', 'chartsub', 'chartaxis'],
    ],
    [
      'places.ppt',
      ['title', 'outline', 'textbox', 'shape', 'group', 'line', 'cell', 'wordart', 'comment', 'notes', 'footer'],
      ['second'],
    ],
  ])('each place of %s is read, or named', async (name, places, more) => {
    needs('catdoc', 'xls2csv')
    const { text, end } = await read(name)
    const initial = { doc: 'w', xls: 'x', ppt: 'p' }[name.slice(-3)] ?? ''
    const words = [...places, ...more].map((place) => (place.startsWith('chart') ? place : initial + place))
    expect(text.split(/[^\p{L}]+/u)).toEqual(expect.arrayContaining(words))
    // The document has controls of a form, and the slides a chart.
    const left = name === 'places.xls' ? [] : ['Embedded objects, such as charts and controls, were not read']
    expect(end.warnings).toEqual(left)
  })

  it('of a master of slides, what each slide shows is read, not what asks to be replaced', async () => {
    const text = (words: string) => slide(0xf00d, slide(0x0fa0, Buffer.from(words, 'utf16le')))
    const asks = slide(0xf004, slide(0xf011, slide(0x0bc3, Buffer.alloc(8))), text('Click here'))
    const master = slide(0x03f8, slide(0xf004, text('heron')), asks)
    const persist = (at: number) => Buffer.from(Uint32Array.of(at, 0, 0, 256, 0).buffer)
    const list = (kind: number, at: number) => slide(0x0ff0, slide(0x03f3, persist(at)), kind)
    const document = slide(0x03e8, Buffer.concat([list(1, 2), list(0, 3)]))
    const own = slide(0x03ee, slide(0xf004, text('own')))
    const places = [0, document.length, document.length + master.length]
    const directory = slide(0x1772, Buffer.from(Uint32Array.of((3 << 20) | 1, ...places).buffer))
    const before = Buffer.concat([document, master, own])
    const edit = slide(0x0ff5, Buffer.from(Uint32Array.of(0, 0, 0, before.length, 1, 3, 0).buffer))
    const user = Buffer.from(Uint32Array.of(0, 0, 20, 0, before.length + directory.length).buffer)
    const stream = Buffer.concat([before, directory, edit, Buffer.alloc(4_096)])
    const bytes = makeCompound({ 'PowerPoint Document': stream, 'Current User': user })
    expect((await read('a.ppt', bytes)).text).toBe('own\n\nheron')
  })

  it('slides are read in their order with their notes, each once', async () => {
    const { passages, end } = await read('old.ppt')
    expect(end.status).toBe('completed')
    expect(passages.map(({ unit, firstUnit, text }) => [unit, firstUnit, text.split(/\n+/)])).toEqual([
      [
        'slide',
        1,
        [...['This is a test title', 'This is a test subtitle', 'This is on page 1'], 'These are the notes for page 1'],
      ],
      [
        'slide',
        2,
        [
          ...['This is the title on page 2', 'This is page two', 'It has several blocks of text'],
          ...['None of them have formatting', 'These are the notes on page two, again lacking formatting'],
        ],
      ],
    ])
  })

  it('texts that stand beside the outline of a slide are read', async () => {
    expect((await read('boxes.ppt')).text).toBe(
      'Title Placeholder\n\nText in a TextBox\n\nRectangle\n\nEllipse\n\nOctagon',
    )
  })

  it('a document is known by its bytes, whatever its type, and found', async () => {
    const sent = { name: 'a.bin', type: 'application/octet-stream', content: new Uint8Array(sample('old.ppt')) }
    const { record, found } = await ingested(sent)
    expect(record).toMatchObject({ ingestion_status: 'completed' })
    expect(await found('subtitle')).toEqual([record.id])
  })

  it.each([
    ['old.doc', 'catdoc'],
    ['old.xls', 'xls2csv'],
  ])('%s is partial and names the program that is not installed', async (name, program) => {
    vi.stubEnv('PATH', '/nowhere')
    const { passages, end } = await read(name)
    expect(passages).toEqual([])
    expect(end).toMatchObject({
      status: 'partial',
      failure: `The program ${program} (of the package catdoc) is not installed: only its title is searchable`,
    })
  })

  it.each(['locked.doc', 'locked.xls', 'locked.ppt'])('%s fails as encrypted', async (name) => {
    needs('catdoc', 'xls2csv')
    await expect(read(name)).rejects.toThrow('The document is encrypted: reading it requires its password')
  })

  it.each(['old.ppt', 'note.msg'])('%s fails when it is cut, or is read in part', async (name) => {
    const bytes = sample(name)
    for (const length of [100, 600, 3_000, bytes.length - 2_000]) {
      const end = await read(name, bytes.subarray(0, length)).catch((error: unknown) => error)
      expect(end).toSatisfy((each) => (each instanceof Error ? /^The \w+ /.test(each.message) : 'end' in Object(each)))
    }
  })

  it('a file that only has the name of such a document is partial', async () => {
    expect((await read('old.doc', Buffer.from([0, 1, 2, 3]))).end.status).toBe('partial')
  })
})

/** A record of PowerPoint; those of texts, of the directory and of places hold bytes, all others records. */
function slide(type: number, ...parts: readonly (Buffer | number)[]): Buffer {
  const holdsBytes = [0x0fa0, 0x0bc3, 0x03f3, 0x1772, 0x0ff5].includes(type)
  const [instance = 0] = parts.filter((part) => typeof part === 'number')
  const body = Buffer.concat(parts.filter((part) => typeof part !== 'number'))
  const head = Buffer.alloc(8)
  head.writeUInt16LE((instance << 4) | (holdsBytes ? 0 : 0xf), 0)
  head.writeUInt16LE(type, 2)
  head.writeUInt32LE(body.length, 4)
  return Buffer.concat([head, body])
}

function record(type: number, ...parts: readonly (string | readonly number[] | Uint8Array)[]): Buffer {
  const body = Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Uint8Array.from(part))),
  )
  const head = Buffer.alloc(4)
  head.writeUInt16LE(type, 0)
  head.writeUInt16LE(body.length, 2)
  return Buffer.concat([head, body])
}

describe('messages of Outlook', () => {
  it('one with formatted text alone is unpacked', async () => {
    // The example of [MS-OXRTFCP] 3.1.1.
    const packed = '2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d0a800fa0'
    const bytes = makeMsg({ '0037001F': 'Greetings', '10090102': Buffer.from(packed, 'hex') })
    expect((await read('a.msg', bytes)).text).toMatch(/# Greetings[\s\S]*hello world/)
  })

  it('one is read with its people, its date and what is attached, messages as well', async () => {
    const { record, found } = await ingested({
      ...{ name: 'note.msg', type: mimeOf('note.msg'), content: new Uint8Array(sample('note.msg')) },
    })
    expect(record).toMatchObject({ properties: { attachments: 2 } })
    const text = pluck(record.assets, 'text').join('\n')
    expect(text).toContain('# I have attachments!\n\nDate: Thu, 10 Sep 2020 10:18:08 GMT')
    expect(text).toContain('# Microsoft Outlook テスト メッセージ')
    expect(await found('attachments')).toEqual([record.id])
  })

  it('one without Unicode is read by the code page of its language', async () => {
    const { text, end } = await read('japanese.msg')
    expect(end.status).toBe('completed')
    expect(text).toContain('# 日本語 Non Unicode タイトル\n\nTo: xmailuser2@xmailserver.test')
    expect(text).toContain('日本語 Non Unicode 本文')
  })

  it('one whose text is a page of HTML is read as it is seen', async () => {
    const { text } = await read('web.msg')
    expect(text).toContain('From: Microsoft Outlook <')
    expect(text).toMatch(/\n\nこの電子メール メッセージは、[^<]*送信されたものです。$/)
  })
})
