import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { uniqueFilename } from '../../../src/embedded/storage/slug.ts'

const free = () => false

describe('uniqueFilename', () => {
  it.each([
    ['Über uns (2).MD', 'uber-uns-2.md'],
    ['archive.tar.gz', 'archive-tar.gz'],
    ['.gitignore', 'gitignore'],
    ['漢字.txt', 'hanzi.txt'],
    ['Отчёт за май.pdf', 'otchet-za-may.pdf'],
    ['Größe ﬁx.md', 'grosse-fix.md'],
    ['تقرير 2024', 'tqryr-2024'],
    ['보고서.docx', 'bogoseo.docx'],
    ['!?.txt', 'file.txt'],
    ['a\n/"b', 'a-b'],
    ['Makefile', 'makefile'],
  ])('the file name of %j is friendly to URLs', (title, filename) => {
    expect(uniqueFilename(title, free)).toBe(filename)
  })

  it('equal names are numbered without a gap', () => {
    const used = new Set<string>()
    for (let count = 0; count < 100; count += 1) used.add(uniqueFilename('a.txt', (name) => used.has(name)))
    expect(used).toEqual(new Set(['a.txt', ...Array.from({ length: 99 }, (_, index) => `a-${index + 2}.txt`)]))
  })

  it('a file name is never in use already', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.uniqueArray(fc.integer({ min: 2, max: 40 })), (title, numbers) => {
        const filename = uniqueFilename(title, free)
        const used = new Set([filename, ...numbers.map((number) => filename.replace(/(?=\.|$)/, `-${number}`))])
        expect(used.has(uniqueFilename(title, (name) => used.has(name)))).toBe(false)
        expect(filename).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+)?$/)
      }),
    )
  })
})
