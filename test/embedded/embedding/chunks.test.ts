import fc from 'fast-check'
import { expect, it } from 'vitest'
import { CHUNK_LENGTH, createComparison, cutChunks, packChunks } from '../../../src/embedded/embedding/chunks.ts'

it('chunks hold all of a passage, none more than 600 characters', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: fc.constantFrom('a', ' ', '\n', '. ', '😀', 'ß') })), (parts) => {
      const passage = parts.join('').repeat(20)
      const chunks = cutChunks(passage)
      for (const { start, text } of chunks) expect(passage.slice(start, start + text.length)).toBe(text)
      expect(chunks.every(({ text }) => text.length <= CHUNK_LENGTH && text.isWellFormed())).toBe(true)
      expect(
        chunks
          .map(({ text }) => text)
          .join('')
          .replace(/\s/g, ''),
      ).toBe(passage.replace(/\s/g, ''))
    }),
  )
})

it('chunks end at sentences where they can', () => {
  const sentences = Array.from({ length: 40 }, (_, index) => `Sentence number ${index} stands here. `)
  const chunks = cutChunks(sentences.join(''))
  expect(chunks.length).toBeGreaterThan(1)
  expect(chunks.every(({ text }) => text.startsWith('Sentence') && text.endsWith('. '))).toBe(true)
})

it('stored vectors compare with a query as the given ones do', () => {
  const number = fc.double({ min: -1, max: 1, noNaN: true })
  const pair = fc
    .integer({ min: 1, max: 40 })
    .chain((length) => fc.tuple(...[0, 1].map(() => fc.array(number, { minLength: length, maxLength: length }))))
  fc.assert(
    fc.property(pair, ([one = [], other = []]) => {
      fc.pre(Math.hypot(...one) > 0.01 && Math.hypot(...other) > 0.01)
      const stored = { ordinal: 70_000, start: 600, vector: Float32Array.from(one) }
      const packed = packChunks([stored, stored])
      const compared = createComparison(Float32Array.from(other))(packed)
      expect(compared).toHaveLength(2)
      const product = one.reduce((sum, each, index) => sum + each * (other[index] ?? 0), 0)
      const cosine = product / (Math.hypot(...one) * Math.hypot(...other))
      expect(compared[1]).toMatchObject({ ordinal: 70_000, start: 600 })
      expect(Math.abs((compared[1]?.similarity ?? 9) - cosine)).toBeLessThan(0.03)
    }),
  )
})
