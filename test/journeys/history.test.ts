import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { configure } from '../support/daemon.ts'
import { expectExit, homeIn, temporaryHome } from '../support/home.ts'
import { homeOnService } from '../support/home-on-service.ts'

/** One for all tests: only the last one that uses it adds a run. */
const place = mkdtempSync(join(tmpdir(), 'shelfd-history-'))
const home = homeIn(place)
const root = join(place, 'Papers')
const history = async (...args: string[]) => (await home.json(['history', ...args])).runs

beforeAll(async () => {
  home.write('Papers', { 'a.md': 'one', 'copy.md': 'one' })
  home.write('Other', { 'b.md': 'two' })
  await home.sync(['Papers'])
  await home.sync(['Other'])
  writeFileSync(join(root, 'new.md'), 'three')
  await home.sync(['Papers', 'Other'])
})
afterAll(() => rmSync(place, { recursive: true }))

test('history lists past runs, newest first, with their uploads', async () => {
  expect(await history()).toMatchObject([
    {
      run: 3,
      verdict: 'ok',
      mirrors: [
        { name: 'Papers', sent: 1, bytes: 5, problems: 0 },
        { name: 'Other', sent: 0 },
      ],
    },
    { run: 2, verdict: 'ok', mirrors: [{ name: 'Other', sent: 1, bytes: 3, problems: 0 }] },
    { run: 1, verdict: 'ok', mirrors: [{ name: 'Papers', sent: 1, bytes: 3, problems: 0 }] },
  ])
})

test('history is narrowed by a mirror and a limit', async () => {
  expect((await history('Other')).map(({ run }: { run: number }) => run)).toEqual([3, 2])
  expect((await history('Papers', '--limit', '1')).map(({ run }: { run: number }) => run)).toEqual([3])
})

test('history of an unknown mirror is an error', async () => {
  expectExit(await home.shelfd(['history', 'nosuch']), 2, /Cannot find the mirror "nosuch".*mirrors: .*Papers/)
  expectExit(await home.shelfd(['history', 'Othr', '--json']), 2, 'did you mean "Other"')
})

test('history shows a run that could not read its directory', async () => {
  rmSync(root, { recursive: true })
  expect((await home.shelfd(['sync', 'Papers'])).exitCode).toBe(3)
  expect((await history('--limit', '1'))[0]).toMatchObject({ run: 4, verdict: 'failed', mirrors: [{ problems: 1 }] })
  const { stdout } = await home.shelfd(['history', '--limit', '1'])
  expect(stdout).toMatch(/^RUN +STARTED +TOOK +ENDING +SENT +PROBLEMS +MIRRORS\n4 .* stopped +0 +1 +Papers\n$/)
  expect((await home.shelfd(['status'])).stdout).toMatch(/^ {2}✗ stopped /m)
})

test('history says in the words of status how runs ended', async () => {
  const other = temporaryHome()
  other.write('Papers', { 'a.md': 'one', 'torn.docx': 'PK\x03\x04torn' })
  for (const [flags, ending] of [
    [['--max-new', '0'], 'left something to do'],
    [[], 'ended with problems'],
  ] as const) {
    await other.shelfd(['sync', 'Papers', ...flags])
    expect((await other.shelfd(['status'])).stdout).toMatch(new RegExp(`^ {2}last run +[\\d:]+, ${ending}$`, 'm'))
    expect((await other.shelfd(['history', '--limit', '1'])).stdout).toContain(` ${ending} `)
  }
  expect((await other.json(['history'])).runs).toMatchObject([{ verdict: 'failed' }, { verdict: 'incomplete' }])
})

test('history tells a running run from one that was cut off', async () => {
  const { service, home } = await homeOnService()
  configure(home, { mirrors: [{ name: 'papers', path: home.write('Papers', { 'a.md': 'one' }), library: 'Research' }] })
  const endings = async () => (await home.json(['history'])).runs.map(({ ending }: { ending: string }) => ending)
  const startHeld = async () => {
    const { begun, release } = service.holdUploads(1)
    const run = home.start(['sync'])
    await begun
    return { ...run, release }
  }
  const first = await startHeld()
  expect(await endings()).toEqual(['running'])
  await first.kill()
  expect(await endings()).toEqual(['cut off'])
  const second = await startHeld()
  expect(await endings()).toEqual(['running', 'cut off'])
  second.release()
  await second.ended
  expect(await endings()).toEqual(['ended well', 'cut off'])
})

test('history before the first run is empty and explains what to do', async () => {
  const { exitCode, stdout, stderr } = await temporaryHome().shelfd(['history'])
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '' })
  expect(stderr).toContain('shelfd sync')
})

test('history refuses a limit that is no number of runs', async () => {
  expectExit(await temporaryHome().shelfd(['history', '--limit', '0']), 2, '--limit')
})
