import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { addressOf, parseAddress } from '../../src/web/common/address.ts'
import { directoryAddress, documentAddress } from '../../src/web/library/addresses.ts'

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((each) => each.isWellFormed())
const names = fc.array(text, { maxLength: 4 })
const query = fc.dictionary(
  text.filter((each) => each !== 'word'),
  text,
  { maxKeys: 3, noNullPrototype: true },
)

test('whatever the page shows, its address leads back to it', () => {
  fc.assert(
    fc.property(text, names, query, names, (view, path, parameters, words) => {
      const address = addressOf(view, { ...parameters, word: words }, path)
      const { query: read, ...others } = parseAddress(address)
      expect({ ...others, query: { ...read, word: '' } }).toEqual({
        view,
        names: path,
        query: { ...parameters, word: '' },
        words,
      })
      // As a browser keeps it.
      expect(parseAddress(new URL(address, 'http://localhost/').hash)).toEqual({ ...others, query: read })
    }),
  )
})

test.each([
  [directoryAddress('a', '/'), '#/files/a'],
  [directoryAddress('a', '/Papers/50 %', { page: '2', cursor: 'x' }), '#/files/a/Papers/50%20%25?page=2&cursor=x'],
  [documentAddress('a', 'b'), '#/documents/a/b'],
  [documentAddress('a', 'b', { at: '3', word: ['one', 'two'] }), '#/documents/a/b?at=3&word=one&word=two'],
  [addressOf('search', { words: 'a b', library: '', type: 'PDF' }), '#/search?words=a+b&type=PDF'],
])('addresses that people have kept stay as they are: %s', (address, kept) => {
  expect(address).toBe(kept)
})

test('an address that nobody made is read as far as it can be', () => {
  for (const address of ['', '#', '#/']) expect(parseAddress(address)).toMatchObject({ view: '', names: [], query: {} })
  expect(parseAddress('#/files/a/%zz//b?page=x')).toMatchObject({ view: 'files', names: ['a', '%zz', 'b'] })
})
