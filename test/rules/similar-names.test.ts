import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ListedEntries, nameKey, nameKeys, rankCandidate, WantedUploads } from '../../src/rules/similar-names.ts'

describe('an entry that an upload may have left', () => {
  const mime = 'text/markdown'
  const fileName = fc.string({ minLength: 1, unit: 'binary' })

  test('an entry with the same title always matches', () => {
    fc.assert(
      fc.property(fileName, fc.string(), (name, slug) => {
        expect(rankCandidate({ title: name, slug, mime_type: mime }, { name, mime })).toBe(0)
      }),
    )
  })

  test('an entry of another type never matches', () => {
    fc.assert(
      fc.property(fileName, (name) => {
        expect(rankCandidate({ title: name, slug: name, mime_type: 'text/plain' }, { name, mime })).toBeUndefined()
      }),
    )
  })

  test('an entry matches by shortened, numbered and slugged names', () => {
    const name = 'Résumé of 2024 – final.md'
    const entry = (title: string, slug: string) => rankCandidate({ title, slug, mime_type: mime }, { name, mime })
    expect(entry('Résumé of 2024 – final', 'x')).toBe(1)
    expect(entry('x', 'resume-of-2024-final-2')).toBe(2)
    expect(entry('x', 'resume-of-2024')).toBe(2)
    expect(entry('Something else', 'something-else')).toBeUndefined()
  })
})

describe('the key of a name', () => {
  test.each([
    ['Résumé 2024 – final.md', 'resume2024final'],
    ['a.b.md', 'ab'],
    ['.env', 'env'],
    ['no-ending', 'noending'],
    ['あ.md', 'あ'],
    ['ﬁne.md', 'fine'],
    ['--.md', ''],
  ])('the key of a name has its letters and digits alone: %s', (name, key) => {
    expect(nameKey(name)).toBe(key)
  })

  test.each([
    [{ title: 'Notes.md', filename: 'notes-2.md' }, ['notes', 'notesmd', 'notes2']],
    [{ title: 'Notes', filename: 'notes' }, ['notes']],
    [{ title: '2.5 Notes', filename: 'x.md' }, ['2', '25notes', 'x']],
  ])('the keys of an entry come from its title and its slug: %j', (entry, keys) => {
    expect(nameKeys(entry)).toEqual(keys)
  })
})

test.each([
  ['--.md', 'x', undefined],
  ['--.md', '', 1],
  ['a.md', '', undefined],
])('an entry without letters is the beginning of no other: %s beside %j', (name, slug, rank) => {
  const mime = 'text/markdown'
  expect(rankCandidate({ title: 'z', slug, mime_type: mime }, { name, mime })).toBe(rank)
})

describe('the candidates of a search', () => {
  const entry = (title: string, slug = title) => ({ title, slug, mime_type: 'text/markdown' })
  const upload = { name: 'a b.md', mime: 'text/markdown' }

  test('candidates are all of the same name, then a few similar ones', () => {
    const same = Array.from({ length: 20 }, () => entry('a b.md'))
    const alike = Array.from({ length: 20 }, () => entry('A-B', 'a-b'))
    const longer = Array.from({ length: 20 }, (_, n) => entry(`a b ${n}`))
    const others = [entry('c.md'), { ...entry('a b.md'), mime_type: 'text/plain' }]
    const candidates = new ListedEntries([...others, ...longer, ...alike, ...same]).candidates(upload)
    expect(candidates).toEqual([...same, ...alike, ...longer.slice(0, 8)])
  })

  const text = fc.stringMatching(/^[aáA-]{0,3}\.?[ab]{0,2}$/)
  const mime = fc.constantFrom('text/plain', 'text/markdown')
  const entries = fc.array(fc.record({ title: text, slug: text, mime_type: mime }), { maxLength: 8 })
  const uploads = fc.array(fc.record({ name: text, mime }), { maxLength: 4 })

  test('the index finds what a comparison of each with each ranks', () => {
    fc.assert(
      fc.property(entries, uploads, (listed, sent) => {
        const sought = new WantedUploads(sent)
        const index = new ListedEntries(listed)
        const ranks = (one: (typeof listed)[number]) => sent.map((upload) => rankCandidate(one, upload))
        for (const one of listed) expect(sought.mayInclude(one)).toBe(ranks(one).some((rank) => rank !== undefined))
        for (const upload of sent) {
          const ranked = listed.filter((one) => rankCandidate(one, upload) !== undefined)
          expect(index.candidates(upload)).toEqual(
            ranked.toSorted((a, b) => Number(rankCandidate(a, upload)) - Number(rankCandidate(b, upload))),
          )
        }
      }),
    )
  })

  test('an entry that was found is a candidate no longer', () => {
    const [first, second] = [entry('a b.md'), entry('a b.md')]
    const index = new ListedEntries([first, second])
    index.remove(first)
    expect(index.candidates(upload)).toEqual([second])
  })
})
