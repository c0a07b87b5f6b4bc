import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { slugName } from '../../../src/embedded/storage/slug.ts'

const free = () => false

describe('slugName', () => {
  it.each([
    ['Über uns (2).MD', 'uber-uns-2', 'uber-uns-2.md'],
    ['archive.tar.gz', 'archive-tar', 'archive-tar.gz'],
    ['.gitignore', 'gitignore', 'gitignore'],
    ['漢字.txt', 'hanzi', 'hanzi.txt'],
    ['Отчёт за май.pdf', 'otchet-za-may', 'otchet-za-may.pdf'],
    ['Größe ﬁx.md', 'grosse-fix', 'grosse-fix.md'],
    ['تقرير 2024', 'tqryr-2024', 'tqryr-2024'],
    ['보고서.docx', 'bogoseo', 'bogoseo.docx'],
    ['!?.txt', 'file', 'file.txt'],
    ['a\n/"b', 'a-b', 'a-b'],
    ['Makefile', 'makefile', 'makefile'],
  ])('the slug of %j is friendly to URLs', (title, slug, filename) => {
    expect(slugName(title, free)).toEqual({ slug, filename })
  })

  it('equal names are numbered without a gap', () => {
    const used = new Set<string>()
    for (let count = 0; count < 100; count += 1) used.add(slugName('a.txt', (name) => used.has(name)).filename)
    expect(used).toEqual(new Set(['a.txt', ...Array.from({ length: 99 }, (_, index) => `a-${index + 2}.txt`)]))
  })

  it('a slug is never in use already', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.uniqueArray(fc.integer({ min: 2, max: 40 })), (title, numbers) => {
        const { slug, filename } = slugName(title, free)
        const used = new Set([filename, ...numbers.map((number) => filename.replace(slug, `${slug}-${number}`))])
        expect(used.has(slugName(title, (name) => used.has(name)).filename)).toBe(false)
        expect(filename).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+)?$/)
      }),
    )
  })
})
