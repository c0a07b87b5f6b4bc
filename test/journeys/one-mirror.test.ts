/** A fault of one mirror does not stop the others; a run that stops names the mirrors it did not reach. */
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { configure } from '../support/daemon.ts'
import { homeOnService } from '../support/home-on-service.ts'
import { titlesIn } from '../support/library-contents.ts'
import { manyFiles, writeTree } from '../support/temporary.ts'

/** A home with two mirrors, the first one synced. */
async function twoMirrors() {
  const { service, home } = await homeOnService()
  const [first, second] = [home.write('first', manyFiles(30, 30)), home.write('second', { 'b.md': 'of the second' })]
  const mirrors = [
    { name: 'first', path: first, library: 'Research' },
    { name: 'second', path: second, library: 'Research' },
  ]
  configure(home, { mirrors })
  expect((await home.sync(['first'])).exitCode).toBe(0)
  return { service, home, first, mirrors }
}

test.each([
  ['that is replaced', 7, (root: string) => replaced(root)],
  ['that lost its files', 8, (root: string) => emptied(root)],
  ['that is missing', 3, (root: string) => rmSync(root, { recursive: true })],
] as const)('a mirror %s does not stop the next one [F-SV-21]', async (_, exitCode, harm) => {
  const { service, home, first } = await twoMirrors()
  harm(first)
  const run = await home.sync([])
  expect(run.exitCode).toBe(exitCode)
  expect(run.summary.mirrors.map(({ name, problems }) => [name, problems.length])).toEqual([
    ['first', 1],
    ['second', 0],
  ])
  expect(titlesIn(service)).toContain('b.md')
})

test('a missing library does not stop the next mirror [F-SV-22]', async () => {
  const { service, home, mirrors } = await twoMirrors()
  const third = { name: 'third', path: home.write('third', { 'c.md': 'C' }), library: 'Nowhere' }
  configure(home, { mirrors: [third, ...mirrors] })
  expect((await home.sync([])).exitCode).toBe(2)
  expect(titlesIn(service)).toContain('b.md')
})

test('a refused credential is reported for the mirrors not reached', async () => {
  const { service, home, first } = await twoMirrors()
  writeTree(first, { 'new.md': 'new' })
  service.answer = ({ route }) => (route === 'uploadFile' ? { status: 401, body: {} } : undefined)
  const { exitCode, summary } = await home.sync([])
  expect(exitCode).toBe(7)
  expect(summary.mirrors.map(({ name }) => name)).toEqual(['first', 'second'])
  expect(summary.mirrors[1]?.problems).toMatchObject([{ path: '', message: expect.stringMatching(/^Not synced/) }])
})

function replaced(root: string): void {
  renameSync(root, `${root}.away`)
  mkdirSync(root)
}

function emptied(root: string): void {
  for (const name of readdirSync(root)) rmSync(join(root, name), { recursive: true })
}
