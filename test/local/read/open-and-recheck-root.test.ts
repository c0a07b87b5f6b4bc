import { mkdirSync, readdirSync, renameSync, rmSync, statfsSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { InterruptedError, RootError } from '../../../src/foundation/errors.ts'
import { type FileSystem, nodeFileSystem } from '../../../src/local/read/file-system.ts'
import { awaitRoot, inspectRoot, openRoot } from '../../../src/local/read/open-and-recheck-root.ts'
import { openGuarded } from '../../../src/local/read/open-guarded.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { temporaryDirectory, writeTree } from '../../support/temporary.ts'
import { faulty, systemError, thrownBy, withoutProc } from '../trees.ts'

const WAYS: readonly (readonly [string, FileSystem])[] = [
  ['with /proc', nodeFileSystem],
  ['without /proc', withoutProc],
]

/** A root `root` beside another directory `other`, each with a file `f`. */
function makeRoots(path: string): { root: string; other: string; aside: string } {
  writeTree(path, { 'root/f': 'own', 'other/f': 'private' })
  return { root: join(path, 'root'), other: join(path, 'other'), aside: join(path, 'aside') }
}

describe.each(WAYS)('an open root %s', (_, fs) => {
  test.each([
    ['gone', () => {}],
    ['another directory', ({ root, other }: ReturnType<typeof makeRoots>) => renameSync(other, root)],
    ['a new directory', ({ root }: ReturnType<typeof makeRoots>) => mkdirSync(root)],
    ['a link to another one', ({ root, other }: ReturnType<typeof makeRoots>) => symlinkSync(other, root)],
    ['a link to itself', ({ root, aside }: ReturnType<typeof makeRoots>) => symlinkSync(aside, root)],
  ])('an open root notices that in its place is now: %s [P12]', (_what, swap) => {
    const directory = temporaryDirectory()
    const places = makeRoots(directory)
    using root = openRoot(fs, places.root)
    root.assertInPlace()
    renameSync(places.root, places.aside)
    swap(places)
    const error = thrownBy(() => root.assertInPlace())
    expect(error).toBeInstanceOf(RootError)
    expect(error).toMatchObject({ code: 'root-missing', message: expect.stringContaining(places.root) })
    expect(thrownBy(() => openGuarded(fs, root, 'f'))).toMatchObject({ kind: 'file' })
    rmSync(places.root, { recursive: true, force: true })
    renameSync(places.aside, places.root)
    root.assertInPlace()
    using opened = openGuarded(fs, root, 'f')
    expect(opened.fingerprint.sizeBytes).toBe(3)
  })

  test('a closed root leaves no descriptor open', () => {
    const directory = temporaryDirectory()
    const { root } = makeRoots(directory)
    const count = () => readdirSync('/proc/self/fd').length
    const before = count()
    openRoot(fs, root)[Symbol.dispose]()
    expect(thrownBy(() => openRoot(fs, join(root, 'f')))).toMatchObject({ code: 'root-missing' })
    expect(count()).toBe(before)
  })
})

test('a root that is swapped while it is opened is refused [P12]', () => {
  const directory = temporaryDirectory()
  const { root, other, aside } = makeRoots(directory)
  const fs = faulty({
    openSync: (path, flags) => {
      if (path !== root) return nodeFileSystem.openSync(path, flags)
      renameSync(root, aside)
      renameSync(other, root)
      const descriptor = nodeFileSystem.openSync(path, flags)
      renameSync(root, other)
      renameSync(aside, root)
      return descriptor
    },
  })
  expect(thrownBy(() => openRoot(fs, root))).toMatchObject({ code: 'root-missing' })
})

test('a file system without birth times is known by its UUID and its size [P15]', () => {
  const directory = temporaryDirectory()
  const { dev } = statSync(directory, { bigint: true })
  const isLink = (path: string) => path.startsWith('/dev/disk/by-uuid/')
  const fs = faulty({
    statfsSync: () => ({ type: 0x4d44, blocks: 1_000, bsize: 512 }),
    readdirSync: ((path: string) =>
      path === '/dev/disk/by-uuid'
        ? ['AAAA-0001', 'broken', 'BBBB-0002']
        : nodeFileSystem.readdirSync(path)) as FileSystem['readdirSync'],
    statSync: (path, options) => {
      if (path.endsWith('/broken')) throw new Error('a link that leads nowhere')
      const stats = nodeFileSystem.statSync(isLink(path) ? '/' : path, options)
      return isLink(path) ? { ...stats, rdev: path.endsWith('0002') ? dev : dev + 1n } : stats
    },
  })
  const volume = { id: 'BBBB-0002', sizeBytes: 512_000 }
  expect(inspectRoot(fs, directory)).toMatchObject({ birthNs: null, volume })
})

test('a root has an identity besides its path', () => {
  const directory = temporaryDirectory({ 'real/': '' })
  symlinkSync('real', join(directory, 'link'))
  const keepsBirths = statfsSync(directory).type === 0xef53
  const { dev, ino, birthtimeNs } = statSync(join(directory, 'real'), { bigint: true })
  expect(inspectRoot(nodeFileSystem, join(directory, 'link'))).toEqual({
    realPath: join(directory, 'real'),
    accessPath: join(directory, 'real'),
    device: dev,
    inode: ino,
    birthNs: keepsBirths ? birthtimeNs : null,
    isBirthCertain: false,
    volume: { id: null, sizeBytes: null },
  })
  writeTree(directory, { 'real/a.md': 'A' })
  expect(inspectRoot(nodeFileSystem, join(directory, 'link'))).toMatchObject({ isBirthCertain: keepsBirths })
})

test('a root that is missing or a file is refused', () => {
  const directory = temporaryDirectory({ file: 'x' })
  const missing = thrownBy(() => inspectRoot(nodeFileSystem, `${directory}/no`))
  expect(missing).toBeInstanceOf(RootError)
  expect(missing).toMatchObject({ code: 'root-missing', message: expect.stringContaining('does not exist') })
  const file = thrownBy(() => inspectRoot(nodeFileSystem, `${directory}/file`))
  expect(file).toMatchObject({ code: 'root-missing', message: expect.stringContaining('not a directory') })
})

test.each(['EACCES', 'EPERM', 'EIO', 'ESTALE'])('a root that fails with %s is unreadable', (code) => {
  const directory = temporaryDirectory()
  const fs = faulty({
    accessSync: () => {
      throw systemError(code)
    },
  })
  expect(thrownBy(() => inspectRoot(fs, directory))).toMatchObject({ code: 'root-unreadable' })
})

test('a root that never answers is refused after 5 s [F-FS-31]', async () => {
  const clock = manualClock()
  const fs = faulty({ answers: () => new Promise(() => {}) })
  let failure: unknown
  const waiting = awaitRoot(fs, '/net', { clock, signal: new AbortController().signal }).catch((error: unknown) => {
    failure = error
  })
  await clock.advance(4_999)
  expect(failure).toBeUndefined()
  await clock.advance(1)
  await waiting
  expect(failure).toMatchObject({
    code: 'root-unreadable',
    message: expect.stringContaining('"/net": it does not answer'),
  })
})

test('a root that answers late is waited for, and no longer than somebody wants', async () => {
  const clock = manualClock()
  const { promise, resolve } = Promise.withResolvers<void>()
  const stop = new AbortController()
  const around = { clock, signal: stop.signal }
  const answered = awaitRoot(faulty({ answers: () => promise }), '/net', around)
  await clock.advance(4_000)
  resolve()
  await answered
  expect(clock.countSleepers()).toBe(0)
  const stopped = awaitRoot(faulty({ answers: () => new Promise(() => {}) }), '/net', around)
  stop.abort(new InterruptedError())
  await expect(stopped).rejects.toMatchObject({ kind: 'interrupted' })
})
