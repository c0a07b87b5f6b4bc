/** `shelfd library prune` and `remove`, on the library on this computer, and their laws against the true contents of disk and library. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openStore, type Store } from '../../src/store/open-store.ts'
import { recordRemoval } from '../../src/sync/operator/tidy-library.ts'
import { startDaemon } from '../support/daemon.ts'
import { startFaultyService } from '../support/faulty-service.ts'
import { type Home, homeWithPapers } from '../support/home.ts'
import { readLibrary } from '../support/library-contents.ts'
import { seededRandom } from '../support/random.ts'

const VERSIONS = ['heron one', 'heron two', 'heron three']

/** A home in whose library are three versions of one document, a document whose file is gone, and one that has its file. */
async function homeWithPast(): Promise<Home> {
  const home = homeWithPapers({ 'kept.md': 'heron stays', 'gone.md': 'heron left' })
  for (const text of VERSIONS) {
    home.write('Papers', { 'note.md': text })
    expect((await home.shelfd(['sync', 'Papers'])).exitCode).toBe(0)
  }
  rmSync(join(home.path, 'Papers', 'gone.md'))
  expect((await home.shelfd(['sync', 'Papers', '--accept-removals'])).exitCode).toBe(0)
  return home
}

async function searched({ shelfd }: Home, words = 'heron'): Promise<string[]> {
  const { stdout } = await shelfd(['search', words, '--all-versions', '--json'])
  const results: { text?: string; asset?: { text?: string } }[] = JSON.parse(stdout).results
  return results.map((each) => JSON.stringify(each).match(/heron \w+/)?.[0] ?? '').toSorted()
}

test('prune removes what no file stands for, once it is confirmed, and nothing else [P7, P13]', async () => {
  const home = await homeWithPast()
  const shown = await home.shelfd(['library', 'prune'])
  expect(shown.stdout).toMatch(/Papers\/gone\.md +gone .*\n/)
  expect(shown.stdout).toMatch(/Papers\/note\.md +replaced .*\n/)
  expect(shown.stdout).toContain('3 documents (')
  expect(shown.stderr).toContain('Nothing was removed; --yes removes them')
  expect(await searched(home)).toHaveLength(5)
  const two = JSON.parse((await home.shelfd(['library', 'prune', '--keep-versions', '1', '--json'])).stdout)
  expect(two).toMatchObject({
    removed: 0,
    documents: [{ path: join(home.path, 'Papers', 'note.md'), reason: 'replaced' }],
  })
  expect((await home.shelfd(['library', 'prune', '--older-than', '1h', '--yes'])).stderr).toContain(
    'No document is without',
  )
  expect((await home.shelfd(['library', 'prune', '--yes'])).stderr).toContain('Removed 3 documents')
  expect(await searched(home)).toEqual(['heron stays', 'heron three'])
  // Nothing is sent again, but what comes back is.
  expect((await home.shelfd(['sync', 'Papers', '--checksum'])).exitCode).toBe(0)
  expect(await searched(home)).toEqual(['heron stays', 'heron three'])
  home.write('Papers', { 'gone.md': 'heron left' })
  expect((await home.shelfd(['sync', 'Papers'])).exitCode).toBe(0)
  expect(await searched(home)).toEqual(['heron left', 'heron stays', 'heron three'])
  expect((await home.shelfd(['report'])).exitCode).toBe(0)
})

/** What the state lists as having no file, the oldest first. */
function unusedOf(store: Store) {
  return store.unusedResources.list(store.mirrors.list()[0]?.library.origin ?? '')
}

test('a removal that was cut off is finished first by the next command', async () => {
  const home = await homeWithPast()
  {
    using store = openStore(home.stateDir)
    recordRemoval(store, { resources: unusedOf(store).slice(0, 1), as: 'unused' })
  }
  const { stderr } = await home.shelfd(['library', 'prune', '--yes'])
  expect(stderr).toContain('Removed 1 document, as was begun earlier')
  expect(stderr).toContain('Removed 2 documents')
  expect(await searched(home)).toEqual(['heron stays', 'heron three'])
})

test('a document whose file comes back stays, whether its removal is about to begin or was cut off [P7]', async () => {
  const home = await homeWithPast()
  const listed = () => {
    using store = openStore(home.stateDir)
    return unusedOf(store)
  }
  const all = listed()
  home.write('Papers', { 'gone.md': 'heron left' })
  await home.sync(['Papers'])
  const isBack = all.find(({ path }) => path === 'gone.md')
  {
    using store = openStore(home.stateDir)
    expect(recordRemoval(store, { resources: isBack ? [isBack] : [], as: 'unused' })).toEqual([])
    expect(recordRemoval(store, { resources: unusedOf(store), as: 'unused' })).toHaveLength(2)
  }
  home.write('Papers', { 'one.md': 'heron one' })
  await home.sync(['Papers'])
  expect((await home.shelfd(['library', 'prune', '--yes'])).stderr).toContain(
    'Removed 1 document, as was begun earlier',
  )
  expect(await searched(home)).toEqual(['heron left', 'heron one', 'heron stays', 'heron three'])
})

test('what was removed with its earlier versions is not sent again before somebody asks for it [P7, P13]', async () => {
  const home = await homeWithPast()
  const file = join(home.path, 'Papers', 'note.md')
  const unasked = await home.shelfd(['library', 'remove', file])
  expect(unasked).toMatchObject({ exitCode: 8, stderr: expect.stringContaining('without --yes') })
  expect((await home.shelfd(['library', 'remove', file, '--yes'])).stderr).toContain('Removed 3 documents for good')
  expect(await searched(home)).toEqual(['heron left', 'heron stays'])
  for (const args of [
    ['sync', 'Papers'],
    ['sync', 'Papers', '--checksum'],
  ]) {
    expect((await home.shelfd(args)).exitCode).toBe(0)
    expect(await searched(home)).toEqual(['heron left', 'heron stays'])
  }
  expect((await home.shelfd(['why', file])).stdout).toContain('you removed it from the library')
  expect((await home.shelfd(['report'])).stdout).toContain('! note.md: set aside: you removed it from the library')
  expect(await home.shelfd(['status'])).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/set aside +1 file/),
  })
  expect((await home.shelfd(['failed', 'list', '--all'])).stdout).toContain('removed')
  expect((await home.shelfd(['failed', 'retry', file])).exitCode).toBe(0)
  expect((await home.shelfd(['sync', 'Papers'])).exitCode).toBe(0)
  expect(await searched(home)).toEqual(['heron left', 'heron stays', 'heron three'])
})

test('a resource is removed by its identifier, beside a daemon, by its order', async () => {
  const home = await homeWithPast()
  const { results } = JSON.parse((await home.shelfd(['search', 'heron', '--json'])).stdout)
  const daemon = await startDaemon(home)
  for (const { resource } of results) {
    expect((await home.shelfd(['library', 'remove', resource.id, '--yes'])).stderr).toContain('Removed 1 document')
  }
  expect(await searched(home)).toEqual(['heron left', 'heron one', 'heron two'])
  await daemon.stop()
})

test('a configured service is never tidied, and words that name nothing are said [P7]', async () => {
  const service = await startFaultyService({ library: 'Test' })
  const home = homeWithPapers({ 'a.md': 'heron' }, service)
  await home.shelfd(['sync', 'Papers', '--to', 'Test'])
  for (const args of [
    ['prune', '--yes'],
    ['remove', join(home.path, 'Papers', 'a.md'), '--yes'],
  ]) {
    expect(await home.shelfd(['library', ...args])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('shelfd deletes nothing at a service'),
    })
  }
  expect(service.count('deleteResource')).toBe(0)
})

const ACTIONS = 25
const NAMES = ['a.md', 'b.md', 'c.md', 'd.md']
const TEXTS = Array.from({ length: 7 }, (_, index) => `heron ${index}`)
const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex')

/** The hashes of all files of the mirror. */
function onDisk({ path }: Home): Set<string> {
  const papers = join(path, 'Papers')
  return new Set(readdirSync(papers).map((name) => sha256(readFileSync(join(papers, name)))))
}

test('whatever is pruned and removed, the library has what files stand for, once, and nothing that was removed [P7, P13]', async () => {
  const random = seededRandom(3)
  const draw = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T
  const home = homeWithPapers({ 'stays.md': 'heron stays', 'a.md': TEXTS[0] ?? '' })
  const removed = new Set<string>()
  const did: string[] = []
  for (let step = 0; step < ACTIONS; step += 1) {
    const [action, name] = [
      draw(['write', 'write', 'delete', 'sync', 'prune', 'remove', 'retry'] as const),
      draw(NAMES),
    ]
    const file = join(home.path, 'Papers', name)
    did.push(`${action} ${name}`)
    if (action === 'write') home.write('Papers', { [name]: draw(TEXTS) })
    else if (action === 'delete') rmSync(file, { force: true })
    else if (action === 'sync') await home.shelfd(['sync', 'Papers', '--accept-removals'])
    else if (action === 'prune') {
      const keep = String(Math.floor(random() * 2))
      await home.shelfd(['library', 'prune', '--yes', '--keep-versions', keep])
    } else if (action === 'remove') {
      const before = readHashes(home)
      await home.shelfd(['library', 'remove', file, '--yes'])
      const after = readHashes(home)
      for (const hash of before) if (!after.includes(hash)) removed.add(hash)
    } else if ((await home.shelfd(['failed', 'retry', file])).exitCode === 0) removed.clear()
  }
  expect((await home.shelfd(['sync', 'Papers', '--accept-removals'])).exitCode, did.join('; ')).toBe(0)
  const [held, present] = [readHashes(home), onDisk(home)]
  expect(new Set(held).size, did.join('; ')).toBe(held.length)
  // After a retry what was removed may be sent again.
  expect(
    held.filter((hash) => removed.has(hash)),
    did.join('; '),
  ).toEqual([])
  for (const hash of present) if (!removed.has(hash)) expect(held, did.join('; ')).toContain(hash)
  expect((await home.shelfd(['library', 'prune', '--yes'])).exitCode).toBe(0)
  expect(
    readHashes(home).filter((hash) => !present.has(hash)),
    did.join('; '),
  ).toEqual([])
  expect((await home.shelfd(['sync', 'Papers', '--checksum'])).exitCode).toBe(0)
  expect(readHashes(home), did.join('; ')).toEqual(held.filter((hash) => present.has(hash)))
})

function readHashes({ dataDir }: Home): string[] {
  try {
    return readLibrary(dataDir)
      .map((resource) => resource.sha256)
      .toSorted()
  } catch {
    // Nothing was mirrored yet.
    return []
  }
}
