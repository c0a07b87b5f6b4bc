import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Passage } from '../../../src/embedded/database/passages-table.ts'
import { PassageSplitter } from '../../../src/embedded/ingest/readers/passage-splitter.ts'

function cut(...pieces: string[]): Passage[] {
  const passages: Passage[] = []
  const splitter = new PassageSplitter('line', (passage) => passages.push(passage))
  for (const piece of pieces) splitter.write(piece)
  splitter.end()
  return passages
}

const text = fc
  .array(fc.constantFrom('word ', 'x'.repeat(900), '🎉'.repeat(700), '\n', '\n\n', 'é'), { maxLength: 60 })
  .map((pieces) => pieces.join(''))

describe('PassageSplitter', () => {
  it('passages lose and repeat no character but blanks', () => {
    fc.assert(
      fc.property(text, fc.nat(3_000), (whole, at) => {
        const passages = cut(whole.slice(0, at), whole.slice(at))
        expect(
          passages
            .map((passage) => passage.text)
            .join('')
            .replace(/\s/g, ''),
        ).toBe(whole.replace(/\s/g, ''))
        for (const passage of passages) {
          expect(passage.text.length).toBeLessThanOrEqual(2_400)
          expect(passage.text.isWellFormed()).toBe(true)
        }
      }),
    )
  })

  it('passages are cut between paragraphs and carry their lines', () => {
    const paragraph = `${'a'.repeat(500)}\n${'b'.repeat(700)}\n\n`
    expect(cut(paragraph.repeat(3)).map(({ firstUnit, lastUnit }) => [firstUnit, lastUnit])).toEqual([
      [1, 3],
      [4, 6],
      [7, 9],
    ])
  })

  it('blank text gives no passage', () => {
    expect(cut(' \n \n\t')).toEqual([])
  })
})
