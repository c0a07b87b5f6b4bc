import { describe, expect, test } from 'vitest'
import {
  countKinds,
  describeKinds,
  describeWithoutText,
  kindName,
  remarkOf,
  WITHOUT_TEXT,
} from '../../src/rules/without-text.ts'

const none = { textExtracted: undefined, warnings: [], error: null }

test.each([
  ['nothing', none, null],
  ['an empty error', { ...none, error: '' }, null],
  ['text that was found', { ...none, textExtracted: true }, null],
  ['text that is missing', { ...none, textExtracted: false, warnings: ['w'] }, WITHOUT_TEXT],
  ['an error above all', { textExtracted: false, warnings: ['w'], error: 'e' }, 'e'],
  ['all its warnings', { ...none, warnings: ['one', 'two'] }, 'one; two'],
])('the remark of a service that is kept: %s', (_, remarks, kept) => {
  expect(remarkOf(remarks)).toBe(kept)
})

describe('files without searchable text', () => {
  test.each([
    ['application/pdf', 'PDF'],
    ['application/msword', 'DOC'],
    ['application/vnd.ms-excel', 'XLS'],
    ['application/vnd.ms-powerpoint', 'PPT'],
    ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'DOCX'],
    ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'XLSX'],
    ['application/vnd.openxmlformats-officedocument.presentationml.presentation', 'PPTX'],
    ['application/vnd.oasis.opendocument.text', 'ODT'],
    ['application/vnd.oasis.opendocument.spreadsheet', 'ODS'],
    ['application/vnd.oasis.opendocument.presentation', 'ODP'],
    ['application/epub+zip', 'EPUB'],
    ['application/zip', 'archive'],
    ['application/gzip', 'archive'],
    ['application/x-tar', 'archive'],
    ['application/x-7z-compressed', 'archive'],
    ['image/png', 'picture'],
    ['audio/ogg', 'audio'],
    ['video/mp4', 'video'],
    ['font/woff2', 'font'],
    ['application/octet-stream', 'other'],
    ['image', 'other'],
  ])('files without text are named by their kind: %s, %s', (mime, kind) => {
    expect(kindName(mime)).toBe(kind)
  })

  test('a missing text is described with its kind, or its type', () => {
    expect(describeWithoutText(WITHOUT_TEXT, { mime: 'application/pdf', size: 1 })).toBe(`${WITHOUT_TEXT} (PDF)`)
    expect(describeWithoutText(WITHOUT_TEXT, { mime: 'x/y', size: 1 })).toBe(`${WITHOUT_TEXT} (x/y)`)
    expect(describeWithoutText('slow', { mime: 'application/pdf', size: 1 })).toBeUndefined()
    expect(describeWithoutText(null, { mime: 'application/pdf', size: 1 })).toBeUndefined()
  })

  test('files without text are counted together by kind', () => {
    const counted = countKinds([
      ['application/zip', 2],
      ['application/gzip', 3],
      ['application/pdf', 1],
    ])
    expect(counted).toEqual({ archive: 5, PDF: 1 })
  })

  test.each([
    [{}, ''],
    [{ other: 9, PDF: 2, DOCX: 4 }, '4 DOCX, 2 PDF, 9 other'],
    [{ XLS: 2, DOC: 2 }, '2 DOC, 2 XLS'],
    [{ DOC: 2, XLS: 2 }, '2 DOC, 2 XLS'],
    [{ archive: 4, picture: 3, font: 2 }, '4 archives, 3 pictures, 2 fonts'],
    [{ archive: 1 }, '1 archive'],
  ])('the kinds are listed most first, others last: %j', (counts, words) => {
    expect(describeKinds(counts)).toBe(words)
  })
})
