import { readFileSync } from 'node:fs'
import iconv from 'iconv-lite'
import { describe, expect, it } from 'vitest'
import { REPLACED_BYTES } from '../../../src/embedded/ingest/readers/extraction.ts'
import { serviceOfFile } from './ingested.ts'
import { readHere } from './read-here.ts'

const ingested = serviceOfFile()

/** Encodes a text in an encoding of one byte for each letter. */
function inBytes(text: string, encoding: string): Buffer {
  const decoder = new TextDecoder(encoding)
  const codes = new Map(Array.from({ length: 256 }, (_, byte) => [decoder.decode(Uint8Array.of(byte)), byte]))
  return Buffer.from(Array.from(text, (letter) => codes.get(letter) ?? 0x3f))
}

const GERMAN = 'Die größten Brücken über den Fluß führen für gewöhnlich zu schönen Plätzen in der Nähe.\n'
const RUSSIAN = 'Приливы и отливы сменяют друг друга каждые шесть часов, и рыбаки знают это лучше всех.\n'
const GREEK = 'Η παλίρροια έρχεται και φεύγει κάθε έξι ώρες, όπως ξέρουν καλά όλοι οι ψαράδες του λιμανιού.\n'

/** An article of the Universal Declaration of Human Rights and more: long enough for its encoding to be recognised. */
function declaration(language: string): string {
  const path = '../../instruments/search-quality/documents/declaration/'
  return readFileSync(new URL(`${path}${language}.txt`, import.meta.url), 'utf8').slice(0, 1_500)
}

/** The text in an encoding, between two of its characters a byte that is valid in none. */
function withFault(text: string, encoding: string): Buffer {
  const middle = Math.floor(text.length / 2)
  const [before, after] = [text.slice(0, middle), text.slice(middle)].map((part) => iconv.encode(part, encoding))
  return Buffer.from([...(before ?? []), 0xff, ...(after ?? [])])
}

const EAST_ASIAN = [
  ['shift_jis', 'ja', '自由'],
  ['euc-jp', 'ja', '自由'],
  ['euc-kr', 'ko', '자유'],
  ['gb2312', 'zh', '自由'],
  ['gb18030', 'zh', '自由'],
  ['big5', 'zh-tw', '自由'],
] as const

describe('text in another encoding than UTF-8', () => {
  it.each(EAST_ASIAN)('a faulty byte costs a text in %s one character', async (encoding, language, word) => {
    const original = language === 'zh-tw' ? '人人有自由發表意見的權利，無論在何處。'.repeat(20) : declaration(language)
    const bytes = withFault(original, encoding)
    const heads = [
      '',
      `<meta charset="${encoding}">`,
      `<?xml version="1.0" encoding='${encoding}'?>`,
      `# coding: ${encoding}\n`,
    ]
    for (const head of heads) {
      const { text, end } = await readHere('text/plain', [Buffer.from(head), bytes])
      expect(text).toContain(word)
      expect(text.match(/\ufffd/g)).toHaveLength(1)
      expect(end.status).toBe('completed_with_warnings')
      expect(end.warnings[0]).toBe(REPLACED_BYTES)
      expect(end.warnings).toHaveLength(head === '' ? 2 : 1)
    }
  })

  it.each(['utf-32le', 'utf-32be'])('a text with the mark of %s is read and found', async (encoding) => {
    const content = new Uint8Array(iconv.encode('\ufeffspring tide 𝒳 größer\n', encoding))
    const { text, end } = await readHere('text/plain', [
      Buffer.from(content.subarray(0, 7)),
      Buffer.from(content.subarray(7)),
    ])
    expect({ text, end }).toMatchObject({ text: 'spring tide 𝒳 größer', end: { status: 'completed', warnings: [] } })
    const { record, found } = await ingested({ name: 'a.txt', content })
    expect(await found('größer')).toEqual([record.id])
  })

  it.each([
    ['euc-kr', '똠방각하 펲시', 'cp949'],
    ['big5', '喺呢度嘅嘢', 'big5-hkscs'],
    ['ibm850', 'größere Brücken', 'cp850'],
  ])('characters that were added to %s later are read', async (name, original, encoding) => {
    const bytes = Buffer.concat([Buffer.from(`# encoding: ${name}\n`), iconv.encode(original, encoding)])
    const { text, end } = await readHere('text/plain', [bytes])
    expect({ text, end }).toMatchObject({ text: expect.stringContaining(original), end: { warnings: [] } })
  })

  it.each([
    ['johab', Buffer.from([0xd0, 0x65, 0x8b, 0x69])],
    ['hz-gb-2312', Buffer.from('~{VPND~}')],
    ['euc-jisx0213', Buffer.from([0xa9, 0xa1])],
    ['iso-2022-cn', Buffer.from('\x1b$)A\x0e=;;;\x0f')],
  ])('a text that says that it is in %s is partial, with the reason', async (name, bytes) => {
    const head = Buffer.from(`<meta charset="${name}">`)
    const { passages, end } = await readHere('text/html', [Buffer.concat([head, bytes])])
    expect({ passages, end }).toMatchObject({
      passages: [],
      end: { status: 'partial', failure: expect.stringContaining(name) },
    })
  })

  it.each(['johab', 'hz-gb-2312', 'iso-2022-cn'])('a text in UTF-8 that speaks of %s is read', async (name) => {
    const { text, end } = await readHere('text/plain', [Buffer.from(`encoding: ${name} is größer`)])
    expect({ text, end }).toMatchObject({ text: expect.stringContaining('größer'), end: { status: 'completed' } })
  })

  it('a text that is mostly faulty is partial and has no text', async () => {
    const faulty = Buffer.from(Array.from({ length: 400 }, (_, at) => (at % 4 === 0 ? 0xff : 0x61)))
    const content = new Uint8Array(Buffer.concat([Buffer.from('größer ü ö ä é '.repeat(40)), faulty]))
    const { record } = await ingested({ name: 'a.txt', content })
    expect(record).toMatchObject({ ingestion_status: 'partial', text_extracted: false })
  })

  it.each([
    ['windows-1252', GERMAN, 'Brücken'],
    ['windows-1251', RUSSIAN, 'отливы'],
    ['koi8-r', RUSSIAN, 'рыбаки'],
    ['iso-8859-7', GREEK, 'παλίρροια'],
  ])('a text without a declaration is read as %s by its bytes', async (encoding, original, word) => {
    for (const type of ['text/plain', 'application/octet-stream']) {
      const { text, end } = await readHere(type, [inBytes(original.repeat(20), encoding)])
      expect(end).toMatchObject({
        status: 'completed_with_warnings',
        warnings: [expect.stringMatching(/^The encoding is not stated/)],
      })
      expect(text).toContain(word)
    }
  })

  it.each([
    ['shift_jis', '漁師は潮の', [0x8b, 0x99, 0x8e, 0x74, 0x82, 0xcd, 0x92, 0xaa, 0x82, 0xcc]],
    ['gb18030', '渔民', [0xd3, 0xe6, 0xc3, 0xf1]],
  ])('a text is read as %s by its declaration', async (encoding, original, bytes) => {
    const head = Buffer.from(`<meta charset="${encoding}"><p>`)
    const { text, end } = await readHere('text/html', [Buffer.from([...head, ...bytes])])
    expect({ text, end }).toMatchObject({ text: original, end: { status: 'completed', warnings: [] } })
  })

  it.each([
    ['ISO-2022-JP', '日本 and 日本', '\x1b$BF|K\\\x1b(B and \x1b$BF|K\\\x1b(B'],
    ['ISO-2022-KR', '한국 (Korea) 한국', '\x1b$)C\x0eGQ19\x0f (Korea) \x0eGQ19\x0f'],
  ])('a text is read as %s by its escape sequences', async (_, original, bytes) => {
    for (const type of ['text/plain', 'application/octet-stream']) {
      const { text, end } = await readHere(type, [Buffer.from(bytes)])
      expect({ text, end }).toMatchObject({ text: original, end: { status: 'completed', warnings: [] } })
    }
    const { record, found } = await ingested({ name: 'letter.txt', content: bytes })
    expect(record).toMatchObject({ ingestion_status: 'completed' })
    expect(await found(original.slice(0, 2))).toEqual([record.id])
  })

  it.each([
    ['koi8-r', 'прилив'],
    ['shift_jis', '潮'],
    ['iso-8859-7', 'νερό'],
  ])('a short text is read in %s where the upload says so', async (encoding, word) => {
    const content = new Uint8Array(iconv.encode(`${word}\n`, encoding))
    const { record, found } = await ingested({ name: 'a.txt', content, type: `Text/Plain; Charset="${encoding}"` })
    expect(record).toMatchObject({ ingestion_status: 'completed', mime_type: 'text/plain', abstract: word })
    expect(await found(word)).toEqual([record.id])
  })

  it('an encoding that the upload names wrongly is left for the one of the text', async () => {
    const content = new Uint8Array(iconv.encode(`<meta charset="windows-1251"><p>${RUSSIAN}`, 'windows-1251'))
    for (const charset of ['utf-8', 'unheard-of', 'no name']) {
      const { record } = await ingested({ name: 'a.html', content, type: `text/html; charset="${charset}"` })
      expect(record).toMatchObject({ ingestion_status: 'completed', abstract: RUSSIAN.trim() })
    }
  })

  it('a text with colours of a terminal is read as UTF-8', async () => {
    const { text, end } = await readHere('text/plain', [Buffer.from('\x1b[31mred\x1b[0m and $B größer')])
    expect({ text, end }).toMatchObject({ text: expect.stringContaining('größer'), end: { status: 'completed' } })
  })

  it.each(['little', 'big'])('a text is read as UTF-16, %s end first, without a mark', async (order) => {
    const bytes = Buffer.from('the spring tide, 漢字 and more\n'.repeat(50), 'utf16le')
    if (order === 'big') bytes.swap16()
    expect((await readHere('text/plain', [bytes])).text).toMatch(/^the spring tide, 漢字 and more/)
  })

  it('a text with single faulty bytes is read as UTF-8', async () => {
    const bytes = Buffer.from([...Buffer.from('größer '), 0xff, ...Buffer.from(' schöner')])
    const { text, end } = await readHere('text/plain', [bytes])
    expect({ text, warnings: end.warnings }).toEqual({ text: 'größer \ufffd schöner', warnings: [REPLACED_BYTES] })
  })

  it('data without text is distinguished from encoded text', async () => {
    const noise = Buffer.from(Array.from({ length: 4_000 }, (_, index) => (index * index * 31 + index * 7) % 251))
    const { passages, end } = await readHere('application/octet-stream', [noise])
    expect({ passages, status: end.status }).toEqual({ passages: [], status: 'completed_with_warnings' })
  })

  it('an encoded text is found by words after much ASCII', async () => {
    const content = new Uint8Array(Buffer.concat([Buffer.from('zebra\n'.repeat(9_000)), inBytes(GERMAN, 'cp1252')]))
    const { record, found } = await ingested({ name: 'a.txt', content })
    expect(record.ingestion_status).toBe('completed_with_warnings')
    expect(await found('gewöhnlich')).toEqual([record.id])
  })
})
