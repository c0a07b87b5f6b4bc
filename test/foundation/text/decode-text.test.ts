import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeText } from '../../../src/foundation/text/decode-text.ts'

const inUtf16 = (text: string, ...mark: number[]) => Buffer.concat([Buffer.from(mark), Buffer.from(text, 'utf16le')])
const swapped = (bytes: Buffer) => Buffer.from(bytes).swap16()

/** A text without what no text has. */
const written = fc
  .string({ unit: 'grapheme' })
  .map((text) => [...text].filter((letter) => !'\0\u001b\ufeff'.includes(letter)).join(''))

test('a text is decoded from UTF-8, and by its mark from UTF-16, to the same words [F-FS-30]', () => {
  fc.assert(
    fc.property(written, (text) => {
      const marked = inUtf16(text, 0xff, 0xfe)
      const encoded = [Buffer.from(text), Buffer.from(`\ufeff${text}`), marked, swapped(marked)]
      expect(encoded.map((bytes) => decodeText(bytes))).toEqual(encoded.map(() => text))
    }),
  )
})

test.each([
  ['Latin-1', Buffer.from('B\u00fcro/\r\n', 'latin1')],
  ['UTF-16 without its mark', inUtf16('B\u00fcro/\r\n')],
  ['UTF-16 without its mark, of English', inUtf16('secret/\n')],
  ['UTF-16 that is cut short', Buffer.from([0xff, 0xfe, 0x42])],
  ['half of a pair in UTF-16', inUtf16('\ud83d/', 0xff, 0xfe)],
  ['UTF-32', Buffer.from([0xff, 0xfe, 0, 0, 0x42, 0, 0, 0])],
  ['ISO-2022-JP', Buffer.from('\u001b$B8D?M\u001b(B/\n', 'latin1')],
  ['UTF-8 that is cut short', Buffer.from('Bü').subarray(0, 2)],
])('a text in %s is not decoded to other words [F-FS-30]', (_, bytes) => {
  expect(decodeText(bytes)).toBeUndefined()
})
