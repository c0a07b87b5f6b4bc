/** `shelfd mirrors forget`: what it deletes, what it keeps, and how to undo it. */
import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createHome } from '../cli/run-with.ts'
import { isIdle, startDaemon } from '../support/daemon.ts'
import { dumpStore } from '../support/dump-store.ts'
import { expectExit, type Home, temporaryHome } from '../support/home.ts'
import { homeOnService } from '../support/home-on-service.ts'
import { readLibrary } from '../support/library-contents.ts'

const PATIENT = { timeout: 120_000 }
const FORGET = ['mirrors', 'forget', 'Papers', '--yes']

/** A home with one mirror of its own library. */
async function syncedHome() {
  const home = temporaryHome()
  const root = home.write('Papers', { 'a.md': 'pelican', 'b.md': 'heron' })
  expect((await home.sync(['Papers'])).exitCode).toBe(0)
  return { home, root }
}

function copiesIn(home: Home): string[] {
  return readdirSync(home.stateDir).filter((name) => name.endsWith('.bak'))
}

test('forgetting a mirror without a terminal needs --yes', async () => {
  const { home } = await syncedHome()
  const before = dumpStore(home.stateDir)
  expectExit(await home.shelfd(['mirrors', 'forget', 'Papers']), 8, /2 resources[\s\S]*--adopt[\s\S]*without --yes/)
  expect(dumpStore(home.stateDir)).toEqual(before)
  expect(copiesIn(home)).toEqual([])
})

test('forgetting a mirror counts its resources only if it has any', async () => {
  const home = temporaryHome()
  const root = home.write('One', { 'a.md': 'pelican' })
  const loss = async () => (await home.shelfd(['mirrors', 'forget', 'One'])).stderr
  expect((await home.sync(['One'])).exitCode).toBe(0)
  expect(await loss()).toContain('shelfd forgets 1 resource of the library "One", which stays there and can be found')
  rmSync(join(root, 'a.md'))
  home.write('Two', {})
  expect((await home.sync(['Two', '--to', 'One:/Two'])).exitCode).toBe(0)
  expect((await home.shelfd(['mirrors', 'forget', 'Two'])).stderr).not.toMatch(/shelfd forgets|resource/)
})

test('forgetting a mirror on a terminal asks for its name', async () => {
  const { home, shelfd } = createHome()
  writeFileSync(join(home, 'a.md'), 'A')
  expect((await shelfd('sync . --yes')).exitCode).toBe(0)
  const name = JSON.parse((await shelfd('mirrors list --json')).stdout).mirrors[0].name
  const forget = (stdin: string) => shelfd(['mirrors', 'forget', name], { isTerminal: true, columns: 70, stdin })
  const refused = await forget('no\n')
  expect(refused.exitCode).toBe(8)
  expect(refused.stderr).toContain('asks for --adopt,\n')
  expect((await forget(`${name}\n`)).exitCode).toBe(0)
  expect(JSON.parse((await shelfd('mirrors list --json')).stdout).mirrors).toEqual([])
})

test('forgetting a mirror deletes nothing, and --adopt creates nothing twice [P7]', async () => {
  const { home, root } = await syncedHome()
  const resources = readLibrary(home.dataDir)
  expect((await home.shelfd(FORGET)).exitCode).toBe(0)
  expect(dumpStore(home.stateDir), 'nothing of it is left').toMatchObject({
    library: [],
    mirror: [],
    content: [],
    upload: [],
  })
  expect(readdirSync(root)).toEqual(['a.md', 'b.md'])
  expect(readLibrary(home.dataDir)).toEqual(resources)
  expectExit(await home.shelfd(['sync', 'Papers']), 8, '--adopt')
  const { exitCode, mirror } = await home.sync(['Papers', '--adopt'])
  expect({ exitCode, uploads: mirror.uploads }).toMatchObject({ exitCode: 0, uploads: { created: 0, duplicates: 2 } })
  expect(readLibrary(home.dataDir).map(({ id }) => id)).toEqual(resources.map(({ id }) => id))
})

test('forgetting a mirror keeps a copy that can be restored', async () => {
  const { home } = await syncedHome()
  const before = dumpStore(home.stateDir)
  const { forgotten, copy } = await home.json(FORGET)
  expect({ forgotten, copies: copiesIn(home).map((name) => join(home.stateDir, name)) }).toEqual({
    forgotten: 'Papers',
    copies: [copy],
  })
  renameSync(copy, join(home.stateDir, 'store.db'))
  for (const name of ['store.db-wal', 'store.db-shm', 'generation']) rmSync(join(home.stateDir, name), { force: true })
  expect(dumpStore(home.stateDir)).toEqual(before)
  const { exitCode, mirror } = await home.sync(['Papers'])
  expect({ exitCode, files: mirror.files }).toMatchObject({ exitCode: 0, files: { unchanged: 2, new: 0 } })
})

test('forgetting a mirror keeps the contents of other mirrors', async () => {
  const { service, home, root } = await homeOnService({
    'shared.md': 'shared',
    'gone.md': 'was shared',
    'own.md': 'own',
  })
  home.write('Other', { 'copy.md': 'shared', 'was.md': 'was shared', 'other.md': 'other' })
  expect((await home.sync(['Papers', '--to', 'Research'])).exitCode).toBe(0)
  expect((await home.sync(['Other', '--to', 'Research'])).exitCode).toBe(0)
  rmSync(join(home.path, 'Other', 'was.md'))
  expect((await home.sync(['Other'])).exitCode).toBe(0)
  service.forget()
  expect(await home.shelfd(['mirrors', 'show', 'Papers'])).toMatchObject({
    stdout: expect.stringMatching(/resources +1 that/),
  })
  expect((await home.shelfd(FORGET)).exitCode).toBe(0)
  expect(existsSync(root)).toBe(true)
  expect(dumpStore(home.stateDir)).toMatchObject({
    mirror: [{ name: 'Other' }],
    content: [{ state: 'stored' }, { state: 'stored' }, { state: 'stored' }],
  })
  const { exitCode, mirror } = await home.sync(['Other'])
  expect({ exitCode, unchanged: mirror.files.unchanged }).toEqual({ exitCode: 0, unchanged: 2 })
  home.write('Other', { 'back.md': 'was shared' })
  expect((await home.sync(['Other'])).mirror.uploads.created, 'its resource is still known').toBe(0)
  expect(service.count('uploadFile')).toBe(0)
})

test('forgetting a mirror ends its watch in the daemon', PATIENT, async () => {
  const { home, root } = await syncedHome()
  const other = home.write('Other', { 'o.md': 'other' })
  expect((await home.sync([other])).exitCode).toBe(0)
  const daemon = await startDaemon(home, { SHELFD_LOG_FORMAT: 'text' })
  await daemon.until('both are watched', ({ mirrors, ...rest }) => mirrors.length === 2 && isIdle({ mirrors, ...rest }))
  expect((await home.shelfd(FORGET)).exitCode).toBe(0)
  expect(copiesIn(home)).toHaveLength(1)
  const status = await daemon.until('one is left', isIdle)
  expect(status.mirrors.map(({ name }) => name)).toEqual(['Other'])
  writeFileSync(join(root, 'late.md'), 'written to the forgotten one')
  writeFileSync(join(other, 'late.md'), 'written to the other one')
  const before = readLibrary(home.dataDir).length
  await daemon.until('the other is sent', () => readLibrary(home.dataDir).length > before)
  await daemon.until('all is settled', isIdle)
  expect(readLibrary(home.dataDir)).toHaveLength(before + 1)
  expect(await home.shelfd(FORGET)).toMatchObject({ exitCode: 2 })
  expect((await daemon.stop()).exitCode).toBe(0)
})
