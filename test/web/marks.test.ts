import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { marksOf, wholeWords, withoutAsterisks } from '../../src/web/common/marks.ts'

const cut = (text: string, marks: ReturnType<typeof marksOf>) => marks.map(([start, end]) => text.slice(start, end))

test.each([
  ['A Heron waits. heron, herons, HERON', ['heron'], ['Heron', 'heron', 'HERON']],
  ['C++ and node.js, not C or node', ['c++', 'node.js'], ['C++', 'node.js']],
  ['Straße und Strasse', ['straße'], ['Straße']],
  ['สภาพอากาศวันนี้ดีมาก', ['อากาศ'], ['อากาศ']],
  ['人工智能技术发展', ['人工'], ['人工']],
  ['关系数据库系统', ['据库'], ['数据库']],
  ['(a|b) [x] \\', ['(a|b)', '\\'], ['(a|b)', '\\']],
  ['nothing here', [], []],
])('in %j the words %j are marked whole', (text, words, marked) => {
  expect(cut(text, marksOf(text, words))).toEqual(marked)
})

test('a pair of characters within another word is no match beside a whole one', () => {
  const text = 'สภาพอากาศวันนี้ดีมาก'
  expect(cut(text, wholeWords(text, [...marksOf(text, ['อากาศ']), [18, 20]]))).toEqual(['อากาศ'])
  expect(cut(text, wholeWords(text, [[18, 20]]))).toEqual(['มาก'])
})

test('marks are whole, in order and apart, and each old one lies in a new one', () => {
  const place = fc.tuple(fc.nat(40), fc.integer({ min: 1, max: 6 }))
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), fc.array(place, { maxLength: 5 }), (text, places) => {
      fc.pre(!/[\p{Script=Han}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ぁ-ヿ]/u.test(text))
      const given = places
        .map(([from, length]) => [from, Math.min(from + length, text.length)] as const)
        .filter(([from, to]) => from < to)
      const whole = wholeWords(text, given)
      for (const [index, [start]] of whole.entries()) expect(start).toBeGreaterThanOrEqual(whole[index - 1]?.[1] ?? 0)
      for (const [from, to] of given) {
        const inside = whole.filter(([start, end]) => start < to && end > from)
        expect([(inside[0]?.[0] ?? from + 1) <= from, (inside.at(-1)?.[1] ?? 0) >= to]).toEqual([true, true])
      }
    }),
  )
})

test('an excerpt loses its asterisks and keeps its marks', () => {
  const { text, marks } = withoutAsterisks('… the **spring** **tide** comes', [
    [8, 14],
    [19, 23],
  ])
  expect([text, cut(text, marks)]).toEqual(['… the spring tide comes', ['spring', 'tide']])
})
