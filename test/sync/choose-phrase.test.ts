import { describe, expect, test } from 'vitest'
import { choosePhrase } from '../../src/sync/report/verify-search.ts'

describe('the phrase that a document is searched by', () => {
  test.each([
    [
      'the longest run of words',
      'Tides.\n\nSpring tides follow the new moon, neap tides do not.',
      'Spring tides follow the new moon',
    ],
    ['at most six words', 'one two three four five six seven eight', 'one two three four five six'],
    ['no end of a word with a hyphen', 'one-two three four', 'three four'],
    ['no part of a name or an address', 'see example.com for more, a.b c d@e', 'for more'],
    ['no words around a number', 'in 1999 they left for good', 'they left for good'],
    ['no comment', '<!-- nobody ever reads these words -->\nshort text', 'short text'],
    ['no run over a line end', 'one\ntwo three', 'two three'],
    ['no overlong word', `${'x'.repeat(40)} one\ntwo words`, 'two words'],
    ['words with accents', 'a\u0300 la carte', 'a\u0300 la carte'],
    ['none in numbers', '1 2 3\n4 5 6', undefined],
    ['none in a single word', 'word', undefined],
    ['none in nothing', '', undefined],
  ])('a phrase is %s', (_, text, phrase) => {
    expect(choosePhrase(text)).toBe(phrase)
  })

  test('a long text without a phrase takes no long time', () => {
    expect(choosePhrase('x'.repeat(1_000_000))).toBeUndefined()
    expect(choosePhrase('<!--'.repeat(20_000))).toBeUndefined()
  })
})
