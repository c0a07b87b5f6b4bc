import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { EXTENSIONS_BY_MIME, MIME_TABLE_VERSION, mimeOf, PLAIN_TEXT_NAMES } from '../../src/contract/mime.ts'

test.each([
  ['notes.md', 'text/markdown'],
  ['NOTES.MD', 'text/markdown'],
  ['report.final.PDF', 'application/pdf'],
  ['table.csv', 'text/csv'],
  ['main.py', 'text/x-python'],
  ['index.tsx', 'text/x-typescript'],
  ['letter.docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['photo.JPEG', 'image/jpeg'],
  ['song.mp3', 'audio/mpeg'],
  ['film.mkv', 'video/x-matroska'],
  ['book.epub', 'application/epub+zip'],
  ['backup.tar.gz', 'application/gzip'],
  ['Makefile', 'text/plain'],
  ['LICENSE', 'text/plain'],
  ['README.unknown', 'text/plain'],
  ['Dockerfile', 'text/plain'],
  ['.gitignore', 'text/plain'],
  ['libfoo.so.1', 'application/octet-stream'],
  ['.md', 'application/octet-stream'],
  ['trailing.', 'application/octet-stream'],
  ['constructor', 'application/octet-stream'],
  ['x.__proto__', 'application/octet-stream'],
])('the type of %s is %s', (name, mime) => {
  expect(mimeOf(name)).toBe(mime)
})

test('no extension belongs to two types', () => {
  const extensions = Object.values(EXTENSIONS_BY_MIME).flatMap((list) => list.split(' '))
  expect(new Set(extensions).size).toBe(extensions.length)
  expect(extensions.every((extension) => extension === extension.toLowerCase())).toBe(true)
})

test('the table of types changes only with its version', () => {
  const table = JSON.stringify([EXTENSIONS_BY_MIME, PLAIN_TEXT_NAMES])
  const digest = createHash('sha256').update(table).digest('hex').slice(0, 16)
  expect({ version: MIME_TABLE_VERSION, digest }).toMatchInlineSnapshot(`
    {
      "digest": "39d60da5bc504015",
      "version": 1,
    }
  `)
})
