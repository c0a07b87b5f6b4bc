import fc from 'fast-check'
import stringWidth from 'string-width'
import { describe, expect, test } from 'vitest'
import { displayWidth, padToWidth, renderTable, truncateToWidth, wrapLines } from '../../src/cli/render/layout.ts'

describe('the width of text', () => {
  test.each<[text: string, columns: number]>([
    ['Übung – größer', 14],
    ['“✓” ✗ → …', 9],
    ['日本語.md', 9],
    ['한국어', 6],
    ['e\u0301te\u0301', 3],
    ['👩‍👩‍👧 family', 9],
    ['ไทย', 3],
    ['مرحبا', 5],
  ])('the text %s takes %i columns', (text, columns) => {
    expect(displayWidth(text)).toBe(columns)
  })

  test('every text takes the columns that string-width counts', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => displayWidth(text) === stringWidth(text)))
  })
})

test('cut text fits its columns, and no character is halved', () => {
  expect(truncateToWidth('日本語の文書', 6)).toBe('日本…')
  expect(truncateToWidth('日本語', 6)).toBe('日本語')
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.integer({ min: 1, max: 20 }), (text, columns) => {
      expect(displayWidth(padToWidth(truncateToWidth(text, columns), columns))).toBe(columns)
    }),
  )
})

test('a wrapped line keeps every word, and fits where words do', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'é', '日', '-'), minLength: 1, maxLength: 9 })
  const label = fc.constantFrom('', '  ! ', '  sent        ', 'path  ')
  fc.assert(
    fc.property(label, fc.array(word, { minLength: 1 }), fc.integer({ min: 50, max: 120 }), (start, words, width) => {
      const text = start + words.join(' ')
      const lines = wrapLines(text, width).split('\n')
      expect(lines.every((line) => displayWidth(line) <= width)).toBe(true)
      expect([lines[0], ...lines.slice(1).map((line) => line.trimStart())].join(' ')).toBe(text)
    }),
  )
})

test('a narrow table cuts names of mirrors rather than how a run ended', () => {
  const row = ['ended with problems', '12 files', 'papers-of-the-year, photographs']
  expect(renderTable(['ending', 'sent', 'mirrors'], [row], 45)).toContain('ended with problems  12 files  papers-of-')
})

test('a table lines up below East Asian names and emoji', () => {
  const rows = [
    ['日本語の文書.md', '1'],
    ['👩‍👩‍👧.jpg', '2'],
    ['plain.md', '3'],
  ]
  const starts = renderTable(['name', 'count'], rows)
    .split('\n')
    .slice(1)
    .map((line) => displayWidth(line.slice(0, -1)))
  expect(new Set(starts).size).toBe(1)
})
