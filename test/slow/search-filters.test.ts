import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectExit, homeIn, temporaryHome } from '../support/home.ts'

const place = mkdtempSync(join(tmpdir(), 'shelfd-filters-'))
const home = homeIn(place)

/** Files by the day of their last change. */
const FILES = {
  'old.md': ['apple pie', '2024-03-01'],
  'recipes/cake.md': ['apple cake and more of it', '2026-02-01'],
  'recipes/list.csv': ['apple,3\npear,4\n', '2026-03-01'],
  'recipes/deep/tart.txt': ['apple tart', '2025-01-01'],
} as const

beforeAll(async () => {
  const root = home.write('Pies', Object.fromEntries(Object.entries(FILES).map(([name, [text]]) => [name, text])))
  for (const [name, [, day]] of Object.entries(FILES)) {
    const time = new Date(`${day}T12:00`)
    utimesSync(join(root, name), time, time)
  }
  expect((await home.sync(['Pies'])).exitCode).toBe(0)
})
afterAll(() => rmSync(place, { recursive: true }))

async function titles(...flags: readonly string[]): Promise<string[]> {
  const { results } = await home.json(['search', 'apple', ...flags])
  return results.map(({ resource }: { resource: { title: string } }) => resource.title)
}

describe('a search', () => {
  test.each(['', ' \t'])('for nothing is refused in own words: %j', async (query) => {
    const { stderr } = expectExit(await home.shelfd(['search', query]), 2, /^shelfd: Cannot search for nothing: /)
    expect(stderr).not.toContain('422')
  })

  test.each([
    [
      ['--in', 'Pies/recipes'],
      ['cake.md', 'list.csv', 'tart.txt'],
    ],
    [['--in', 'Pies/recipes/cake.md'], ['cake.md']],
    [
      ['--in', 'Pies'],
      ['cake.md', 'list.csv', 'old.md', 'tart.txt'],
    ],
    [['--in', 'Pies:/Pies/recipes/deep'], ['tart.txt']],
    [['--in', 'Pies:/Pies/rec'], []],
    [
      ['--type', 'md'],
      ['cake.md', 'old.md'],
    ],
    [
      ['--type', 'table', '--type', 'text/plain'],
      ['list.csv', 'tart.txt'],
    ],
    [['--type', 'text/*', '--in', 'Pies/recipes/deep'], ['tart.txt']],
    [
      ['--since', '2025-01-01'],
      ['cake.md', 'list.csv', 'tart.txt'],
    ],
    [['--since', '2025-01-01', '--before', '2026-02-01'], ['tart.txt']],
  ])('finds only what lies there, is of the type and the time: %j', async (flags, expected) => {
    expect((await titles(...flags)).toSorted()).toEqual(expected)
  })

  test.each([
    ['newest', ['list.csv', 'cake.md', 'tart.txt', 'old.md']],
    ['oldest', ['old.md', 'tart.txt', 'cake.md', 'list.csv']],
    ['name', ['cake.md', 'list.csv', 'old.md', 'tart.txt']],
    ['largest', ['cake.md', 'list.csv', 'tart.txt', 'old.md']],
  ])('shows its hits in the order %s', async (order, expected) => {
    expect(await titles('--sort', order)).toEqual(expected)
  })

  test('shows what is known of each hit, page by page', async () => {
    const { stdout, stderr } = await home.shelfd(['search', 'apple', '--sort', 'newest', '--limit', '1', '--page', '2'])
    const facts = 'Markdown, 25 B, changed 2026-02-01 12:00 · Pies:/Pies/recipes/cake.md'
    expect(stdout.split('\n').slice(0, 2)).toEqual(['2  ~/Pies/recipes/cake.md', `   ${facts}`])
    expect(stderr).toContain('2 to 2, the last changed first; more with --page 3\n')
    const { results, filter } = await home.json(['search', 'apple', '--type', 'csv'])
    expect(results[0].facts).toMatchObject({ mime: 'text/csv', size: 15, date: expect.stringMatching(/^2026-03-01T/) })
    expect(filter).toEqual({ matched: 1, candidates: 4, isComplete: true, undecided: 0, outdated: 0, processing: 0 })
  })

  test.each([
    [['--type', 'nonsense'], 'Cannot use "nonsense" for --type'],
    [['--since', '2026-02-31'], 'Cannot use "2026-02-31" for --since'],
    [['--in', '/nowhere'], '"/nowhere" lies in no mirror'],
    [['--in', 'Pies', '--library', 'Pies'], 'Give --in or --library'],
  ])('refuses what it cannot filter by: %j', async (flags, message) => {
    expectExit(await home.shelfd(['search', 'apple', ...flags]), 2, message)
  })
})

test('a search below a directory finds no earlier version', async () => {
  const changed = temporaryHome()
  changed.write('Pies', { 'far/a.txt': 'apple and pear' })
  await changed.sync(['Pies'])
  changed.write('Pies', { 'far/a.txt': 'apple and quince' })
  await changed.sync(['Pies'])
  expect((await changed.json(['search', 'apple', '--all-versions'])).results).toHaveLength(2)
  const { results } = await changed.json(['search', 'apple', '--in', 'Pies/far'])
  expect(results).toHaveLength(1)
  expect(results[0].resource.assets[0].text).toBe('apple and quince')
})

describe('a search in many documents', () => {
  test('finds what fits beyond the best hundred', async () => {
    const many = temporaryHome()
    const tree = Object.fromEntries(Array.from({ length: 103 }, (_, number) => [`${number}.md`, `apple ${number}`]))
    many.write('Pies', { ...tree, 'far/last.txt': `apple ${'pear '.repeat(500)}` })
    await many.sync(['Pies'])
    const far = await many.shelfd(['search', 'apple', '--in', 'Pies/far'])
    expect(far.stdout).toMatch(/^1 {2}~\/Pies\/far\/last\.txt/)
    expect(far.stderr).not.toContain('only these were looked at')
    const { results, filter } = await many.json(['search', 'apple', '--type', 'md', '--page', '11'])
    expect(results).toHaveLength(3)
    expect(filter).toMatchObject({ matched: 103, candidates: 104, isComplete: true })
  })
})

test('a search marks documents without a file', async () => {
  const own = temporaryHome()
  const root = own.write('Notes', { 'tides.md': 'neap tides, the first draft', 'moon.md': 'the moon makes neap tides' })
  await own.sync(['Notes'])
  writeFileSync(join(root, 'tides.md'), 'spring floods')
  await own.sync(['Notes'])
  const { stdout } = await own.shelfd(['search', 'neap tides', '--all-versions'])
  expect(stdout).toMatch(/tides\.md\n.*\n +\^ an earlier version of ~\/Notes\/tides\.md\n.*draft/)
  expect(stdout).toMatch(/~\/Notes\/moon\.md\n.*\n.*moon makes/)
  const { stdout: present } = await own.shelfd(['search', 'neap tides'])
  expect(present).toMatch(/^1 {2}~\/Notes\/moon\.md\n/)
  expect(present).not.toContain('draft')
})

test('until the new text of a file can be found, a search shows the one before and says so', async () => {
  const held = temporaryHome()
  for (const text of ['apple one', 'apple two']) {
    held.write('Pies', { 'a.txt': text })
    await held.sync(['Pies'])
  }
  held.write('Pies', { 'a.txt': 'apple three', 'b.txt': 'pear' })
  await held.shelfd(['sync', 'Pies', '--max-new-bytes', '4'])
  const { results } = await held.json(['search', 'apple'])
  expect(results).toMatchObject([{ facts: { version: 'waiting' }, resource: { assets: [{ text: 'apple two' }] } }])
  const { stdout } = await held.shelfd(['search', 'apple'])
  expect(stdout).toContain('! ~/Pies/a.txt has changed, and its present text cannot be found yet\n')
})
