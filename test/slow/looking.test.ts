import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { homeIn, temporaryHome } from '../support/home.ts'

async function mirroredHome(home = temporaryHome()) {
  const root = home.write('Papers', {
    'a.md': 'one',
    'copy/b.md': 'one',
    'draft.tmp': 'litter',
    '.env': 'SECRET=1',
    'notes/.shelfdignore': '# private\n*.log\n',
    'notes/today.log': 'log',
    'old/gone.md': 'gone',
  })
  expect((await home.sync(['Papers'])).exitCode).toBe(0)
  return { home, root }
}

/** One for all tests that change nothing. */
const place = mkdtempSync(join(tmpdir(), 'shelfd-looking-'))
const unchanged = homeIn(place)
beforeAll(() => mirroredHome(unchanged))
afterAll(() => rmSync(place, { recursive: true }))

test.each([
  ['draft.tmp', /ignored by the rule "\*\.tmp" \(built-in\)/],
  ['.env', /ignored by the rule "\.env" \(built-in\), as it looks like a secret/],
  ['notes/today.log', /ignored by the rule "\*\.log" \(notes\/\.shelfdignore, line 2\)/],
  ['nothing.md', /not there/],
  ['copy', /a directory/],
])('why explains the path %s', async (path, expected) => {
  const { exitCode, stdout } = await unchanged.shelfd(['why', `Papers/${path}`])
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringMatching(expected) })
})

test('why shows the resource of a file', async () => {
  const { stdout } = await unchanged.shelfd(['why', 'Papers/a.md'])
  expect(stdout).toMatch(/state +stored/)
  expect(stdout).toMatch(/ingestion +completed \(searchable\)/)
  expect(stdout).toMatch(/in the library +\/Papers\/a\.md/)
  expect(stdout).toMatch(/upload 1 .*sent, from a\.md/)
})

test('why names the file that another one duplicates', async () => {
  expect(await unchanged.json(['why', 'Papers/copy/b.md'])).toMatchObject({
    path: 'copy/b.md',
    duplicateOf: 'a.md',
    content: { state: 'stored' },
  })
})

test('why shows the earlier version of a removed file', async () => {
  const { home, root } = await mirroredHome()
  rmSync(join(root, 'old'), { recursive: true })
  await home.sync(['Papers'])
  const { stdout } = await home.shelfd(['why', 'Papers/old/gone.md', '--offline'])
  expect(stdout).toMatch(/earlier version +\S+, until .*: gone: its file is no longer there; still searchable\n/)
})

test('status before the first sync reports that nothing was mirrored', async () => {
  const { exitCode, stdout } = await temporaryHome().shelfd(['status'])
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringMatching(/Nothing was mirrored yet/) })
})

test('status counts the files of a mirror by state', async () => {
  const { stdout } = await unchanged.shelfd(['status', '--json'])
  const files = { known: 3, searchable: 3, inIngestion: 0, toSend: 0, inDoubt: 0, needAttention: 0, setAside: 0 }
  expect(JSON.parse(stdout).mirrors).toMatchObject([
    { name: 'Papers', files, queue: { contents: 0, bytes: 0 }, lastRun: { verdict: 'ok' }, problems: [] },
  ])
})

test('the combined report prints one sign and path per line', async () => {
  const { home, root } = await mirroredHome()
  writeFileSync(join(root, 'a.md'), 'changed')
  writeFileSync(join(root, 'new.md'), 'new')
  rmSync(join(root, 'old'), { recursive: true })
  const { stdout } = await home.shelfd(['report', '--format', 'combined'])
  expect(stdout.trim().split('\n').sort()).toEqual(['* a.md', '+ new.md', '= copy/b.md', '^ old/gone.md'])
})

test('the report lists ignored files when asked', async () => {
  const [mirror] = (await unchanged.json(['report', '--only', 'ignored'])).mirrors
  const paths = mirror.entries.map((entry: { path: string }) => entry.path).sort()
  expect(paths).toEqual(['.env', 'draft.tmp', 'notes/.shelfdignore', 'notes/today.log'])
  expect(mirror.counts).toEqual({ ignored: 4 })
})

test('search says that there is more, and lists it page by page', async () => {
  const home = temporaryHome()
  home.write('Pies', Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`${index}.md`, `apple ${index}`])))
  await home.sync(['Pies'])
  const pages = [1, 2, 3, 4].map((page) => home.shelfd(['search', 'apple', '--limit', '2', '--page', String(page)]))
  const [first, second, third, fourth] = await Promise.all(pages)
  expect(first?.stderr).toMatch(/^1 to 2, the best first; more with --page 2$/m)
  expect(second?.stderr).toMatch(/^3 to 4, the best first; more with --page 3$/m)
  expect(third?.stderr).toMatch(/^5 to 5, the last ones$/m)
  expect(fourth?.stdout).toBe('Nothing on page 4: the search found 5\n')
  const titles = [first, second, third].flatMap((page) => page?.stdout.match(/(?<=^\d {2}~\/Pies\/)\d\.md$/gm) ?? [])
  expect(titles.toSorted()).toEqual(['0.md', '1.md', '2.md', '3.md', '4.md'])
  const whole = await home.shelfd(['search', 'apple'])
  expect(whole.stderr).not.toContain('--page')
  expect(JSON.parse((await home.shelfd(['search', 'apple', '--json', '--limit', '2'])).stdout).results).toHaveLength(2)
})

test('search says beside the results what they are and what meaning leaves out', async () => {
  const words = ['search', 'gone']
  const { stdout } = await unchanged.shelfd(words)
  expect(stdout).toMatch(/^1 {2}~\/Papers\/old\/gone\.md\n.* · Papers:\/Papers\/old\/gone\.md\n {3}\*\*gone\*\*\n$/)
  const { stderr } = await unchanged.shelfd([...words, '--notices'], { SHELFD_EMBEDDER: 'offline' })
  expect(stderr).toContain('Candidates, not verified answers: check excerpts against the source.')
  expect(stderr).toContain('Meaning is not considered yet: no resource is embedded so far.')
  expect(stderr).toContain('The daemon and "shelfd serve" embed them while they run, "shelfd library embed" at once.')
  // One sentence at a time, and each once a day.
  const { stderr: later } = await unchanged.shelfd(words)
  expect(later.split('\n')).toHaveLength(2)
  expect(later).not.toContain('Candidates')
  const quiet = await unchanged.shelfd([...words, '--quiet'])
  expect(quiet).toMatchObject({ stdout, stderr: '' })
})
