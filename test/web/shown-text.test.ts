import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { escapeContent, escapeShown } from '../../src/web/common/shown-text.ts'
import { hostileText } from '../support/hostile-text.ts'

describe('a shown name', () => {
  test.each([
    ['rtl\u202egpj.exe.txt', 'rtl\\u{202e}gpj.exe.txt'],
    ['\u2067a\u2069\u202a.md', '\\u{2067}a\\u{2069}\\u{202a}.md'],
    ['a\x1b[31m\nb\tc\0', 'a\\x1b[31m\\nb\\tc\\x00'],
    ['zero\u200bwidth\ufeff', 'zero\\u{200b}width\\u{feff}'],
    ['\ud800', '\\u{d800}'],
  ])('%j escapes what reorders, moves or hides', (name, shown) => {
    expect(escapeShown(name)).toBe(shown)
  })

  test.each([
    'שלום עולם.pdf',
    'تقرير ٢٠٢٦.pdf',
    'می\u200cخواهم.txt',
    '\u200fא1\u200e.txt',
    '👩\u200d🔬.png',
    '日本語.md',
  ])('%s stays as its script needs it', (name) => {
    expect(escapeShown(name)).toBe(name)
  })

  test('escaping twice changes nothing', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        expect(escapeShown(escapeShown(text))).toBe(escapeShown(text))
        expect(escapeShown(text)).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u)
      }),
    )
  })
})

test('a document keeps its lines and hyphens', () => {
  const text = 'One\r\n\ttwo soft\u00adhyphen\u200c\n'
  expect(escapeContent(text)).toBe(text)
  expect(escapeContent('if (a)\u202e { \u2066// b\x1b[2J\n')).toBe('if (a)\\u{202e} { \\u{2066}// b\\x1b[2J\n')
})
