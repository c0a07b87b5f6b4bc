import fc from 'fast-check'
import { expect, it } from 'vitest'
import { splitWords } from '../../../src/embedded/analysis/split-words.ts'
import { indexDocuments } from './indexed-documents.ts'

const SAMPLES = [
  'The quick brown fox jumps over 12 lazy dogs; see RFC 9110 §4.2 and git v2.39.1!',
  'Fünf größere Straßenbahnhaltestellen in Österreich, naïve café Ærøskøbing',
  'Широкая электрификация южных губерний даст мощный толчок. Ще не вмерла',
  'الحرية والعدالة والسلام في العالم ۱۲۳ שלום עולם',
  '数据库连接池が満杯です 데이터베이스를 ภาษาไทยง่าย हिन्दी किताबें',
  'foo_bar readFileSync e-mail C++ a.b.c x=1 1.2.3.4 ﬁne ｆｕｌｌ',
]

const text = fc
  .array(
    fc.oneof(
      ...SAMPLES.map((sample) => fc.constantFrom(...sample.split(' '))),
      fc.string({ unit: 'grapheme', maxLength: 12 }),
    ),
    { minLength: 1, maxLength: 30 },
  )
  .map((words) => words.join(' '))

/** In some scripts, capitals stand for other letters than small ones. */
function capitals(word: string): string {
  const large = word.toUpperCase()
  return large.toLowerCase() === word ? large : word
}

it('any document is found by any of its own words', () => {
  fc.assert(
    fc.property(text, text, (one, other) => {
      using index = indexDocuments([
        { name: '', text: one },
        { name: 'other', text: other },
      ])
      // A pair may begin with a mark of the character before it, which is no query, as a stroke alone that stretches Arabic words.
      for (const { source } of splitWords(one).filter((word) => /^(?!\u0640+$)[\p{L}\p{N}]/u.test(word.source))) {
        for (const query of [source, `"${source}"`, capitals(source)]) {
          expect([query, index.found(query).includes('')]).toEqual([query, true])
        }
      }
    }),
    { numRuns: 60 },
  )
})

it('no query is an error', () => {
  using index = indexDocuments(SAMPLES.map((sample, number) => ({ name: `${number}`, text: sample })))
  const noise = fc.array(
    fc.constantFrom('"', '-', '*', '(', ')', ' ', 'AND', 'NOT', 'NEAR', ':', '^', '{', '}', '~', '.', '\0', 'a', '中'),
  )
  const query = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 1_000 }),
    noise.map((parts) => parts.join('')),
    text,
  )
  fc.assert(
    fc.property(query, (each) => {
      expect(index.search(each).hits.length).toBeLessThanOrEqual(SAMPLES.length)
    }),
    { numRuns: 500 },
  )
})
