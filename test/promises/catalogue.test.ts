import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { CATALOGUE } from './catalogue.ts'
import { collectTests, isRunOf, tagsOf, testFiles, withoutTag } from './collect-tests.ts'

const PROJECT = join(import.meta.dirname, '..', '..')
const rows = CATALOGUE.flatMap((section) => section.rows)
const files = testFiles()
const titlesOf = new Map(files.map((file) => [file, collectTests(file)]))

describe('the catalogue', () => {
  test('each test title is unique in its file', () => {
    const twice = [...titlesOf].flatMap(([file, titles]) =>
      titles.filter((title, index) => titles.indexOf(title) !== index).map((title) => `${file}: ${title}`),
    )
    expect(files.length).toBeGreaterThan(100)
    expect(twice).toEqual([])
  })

  test('the titles of tests name only numbers of the catalogue, each once', () => {
    const known = new Set(rows.map(({ id }) => id))
    const wrong = [...titlesOf].flatMap(([file, titles]) =>
      titles
        .filter((title) => tagsOf(title).some((id, index, ids) => !known.has(id) || ids.indexOf(id) !== index))
        .map((title) => `${file}: ${title}`),
    )
    expect(wrong).toEqual([])
  })

  test('the catalogue has no row without a test', () => {
    const bare = rows.filter(({ shownBy }) => !Object.values(shownBy).some((titles) => titles.length > 0))
    expect(bare.filter(({ open }) => open === undefined).map(({ id }) => id)).toEqual([])
  })

  test('each promise has a test in npm test', () => {
    const slow = rows.filter(({ id, shownBy }) => {
      const shown = Object.entries(shownBy).filter(([file, titles]) => titles.length > 0 && !file.startsWith('slow/'))
      return id.startsWith('P') && shown.length === 0
    })
    expect(slow.map(({ id }) => id)).toEqual([])
  })

  test('the catalogue has each number once, without a gap', () => {
    const numbers = new Map<string, number[]>()
    for (const { id } of rows) {
      const [, kind = '', digits = ''] = /^(.*?)(\d+)$/.exec(id) ?? []
      numbers.set(kind, [...(numbers.get(kind) ?? []), Number(digits)])
    }
    const expected = [...numbers.values()].map(({ length }) => Array.from({ length }, (_, index) => index + 1))
    expect([...numbers.values()]).toEqual(expected)
    expect([...numbers.keys()]).toEqual(['P', 'F-FS-', 'F-SV-', 'F-PR-', 'S-'])
    expect(numbers.get('P')).toHaveLength(24)
  })
})

test('the numbers cited in the code are those of the catalogue', () => {
  const cited = globSync(['src/**/*.ts', 'test/**/*.ts', 'docs/**/*.md'], {
    cwd: PROJECT,
    exclude: ['**/node_modules/**'],
  }).flatMap((file) =>
    [...readFileSync(join(PROJECT, file), 'utf8').matchAll(/\b(?:P\d{1,2}|[FS]-(?:[A-Z]{2}-)?\d{2})\b/g)].map(
      ([id]) => id,
    ),
  )
  const known = new Set(rows.map(({ id }) => id))
  expect(cited.length).toBeGreaterThan(100)
  expect(cited.filter((id) => !known.has(id))).toEqual([])
})

describe('titles', () => {
  test('titles are collected without their groups', () => {
    expect(collectTests('promises/catalogue.test.ts')).toContain('titles are collected without their groups')
  })

  test('the numbers at the end of a title are its tags', () => {
    const title = 'an upload of %s is in doubt [P4, F-SV-04, S-12]'
    expect([tagsOf(title), withoutTag(title)]).toEqual([['P4', 'F-SV-04', 'S-12'], 'an upload of %s is in doubt'])
    expect(tagsOf('a list [1, 2]')).toEqual([])
  })

  test('a title with cases matches whatever is filled in, in any group', () => {
    expect(isRunOf('takes %s (%i) for $what', 'takes a.b\n(7) (3) for it')).toBe(true)
    expect(isRunOf('takes %s', 'a group > takes one')).toBe(true)
    expect(isRunOf('takes %s.', 'takes one')).toBe(false)
    expect(isRunOf('takes it', 'mistakes it')).toBe(false)
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as it is written in a test
    expect(isRunOf('at most ${MOST} lines', 'at most 360 lines')).toBe(true)
  })
})
