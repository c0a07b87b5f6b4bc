import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Clock } from '../../../src/foundation/clock.ts'
import {
  type DirectoryWatchListener,
  NodeWatcher,
  type OpenDirectoryWatch,
  openDirectoryWatch,
} from '../../../src/local/watch/node-watcher.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { temporaryDirectory, writeTree } from '../../support/temporary.ts'
import { systemError } from '../trees.ts'
import { recording, until, watchNewTree } from './watched-tree.ts'

describe('adding directories', () => {
  test('adding returns directories not watched before', async () => {
    await using tree = await watchNewTree('node', { 'a/': '', 'b/': '' })
    mkdirSync(join(tree.root, 'c'))
    expect(tree.watcher.add(['', 'a', 'b', 'c', 'missing'])).toEqual(['c'])
    expect(tree.watcher.add(['c'])).toEqual([])
  })

  test('a change right after adding is reported', async () => {
    await using tree = await watchNewTree('node')
    writeTree(tree.root, { 'new/inner/': '' })
    tree.watcher.add(['new', 'new/inner'])
    await tree.hints(['new/inner/x.md'], () => writeFileSync(join(tree.root, 'new/inner/x.md'), 'x'))
  })

  test('files and links are not watched as directories', async () => {
    await using tree = await watchNewTree('node', { 'file.md': 'x' })
    expect(tree.watcher.add(['file.md', 'file.md/below'])).toEqual([])
  })
})

describe('a directory that is replaced', () => {
  test('a replaced directory is watched anew with all below', async () => {
    await using tree = await watchNewTree('node', { 'a/x/': '', 'a/y/z/': '' })
    await tree.hints(['a', 'a/x', 'a/y', 'a/y/z'], () => {
      renameSync(join(tree.root, 'a'), join(tree.root, 'b'))
      writeTree(tree.root, { 'a/x/': '', 'a/y/z/': '' })
    })
    expect(tree.watcher.add(['a', 'a/x', 'a/y', 'a/y/z'])).toEqual(['a', 'a/x', 'a/y', 'a/y/z'])
    await tree.hints(['a/y/z/new.md'], () => writeFileSync(join(tree.root, 'a/y/z/new.md'), 'x'))
  })

  test('a directory deleted and created is watched anew', async () => {
    await using tree = await watchNewTree('node', { 'a/a/': '' })
    await tree.hints(['a', 'a/a'], () => {
      rmSync(join(tree.root, 'a'), { recursive: true })
      mkdirSync(join(tree.root, 'a/a'), { recursive: true })
    })
    await until('both watches are closed', () => tree.watcher.add(['a/a']).length > 0)
    tree.watcher.add(['a'])
    await tree.hints(['a/a/new.md'], () => writeFileSync(join(tree.root, 'a/a/new.md'), 'x'))
  })

  test('a directory that changes is not taken for replaced', async () => {
    await using tree = await watchNewTree('node', { 'a/x/': '' })
    await tree.hints(['a'], () => chmodSync(join(tree.root, 'a'), 0o700))
    expect(tree.watcher.add(['', 'a', 'a/x'])).toEqual([])
  })

  test('a directory replaced in a burst is watched anew', async () => {
    const clock = manualClock()
    const fake = fakeWatches({ 'a/': '', 'b/': '' }, { clock })
    fake.watcher.add(['', 'a', 'b'])
    renameSync(join(fake.root, 'a'), join(fake.root, 'c'))
    mkdirSync(join(fake.root, 'a'))
    for (let count = 0; count < 5_000; count += 1) fake.open.get('')?.onName(`f${count}`)
    await clock.advance(3_000)
    expect(fake.reported.losses).toEqual(['burst'])
    expect(fake.watcher.add(['', 'a', 'b'])).toEqual(['a'])
  })

  test('a replaced root is watched anew', async () => {
    await using tree = await watchNewTree('node', { 'a/': '' })
    await tree.hints([''], () => rmSync(tree.root, { recursive: true }))
    mkdirSync(tree.root)
    await until('the watch of the root is closed', () => tree.watcher.add(['']).length > 0)
    await tree.hints(['new.md'], () => writeFileSync(join(tree.root, 'new.md'), 'x'))
  })
})

describe('watches', () => {
  test('watches of directories not kept are closed', () => {
    const fake = fakeWatches({ 'a/b/': '', 'c/': '' })
    fake.watcher.add(['', 'a', 'a/b', 'c'])
    fake.watcher.keepOnly(new Set(['', 'c']))
    expect([...fake.open.keys()]).toEqual(['', 'c'])
    expect(fake.watcher.add(['', 'a', 'c'])).toEqual(['a'])
  })

  test('all watches are closed in the end', async () => {
    const fake = fakeWatches({ 'a/b/': '' })
    fake.watcher.add(['', 'a', 'a/b'])
    await fake.watcher[Symbol.asyncDispose]()
    expect(fake.open.size).toBe(0)
    expect(fake.watcher.add(['a'])).toEqual([])
  })

  test('watches that fail are closed and hinted at', () => {
    const fake = fakeWatches({ 'a/': '' })
    fake.watcher.add(['', 'a'])
    fake.open.get('a')?.onError(systemError('EPERM'))
    expect([...fake.reported.hints]).toEqual(['a'])
    expect([...fake.open.keys()]).toEqual([''])
  })

  test('events without a name hint at their directory', () => {
    const fake = fakeWatches({ 'a/': '' })
    fake.watcher.add(['', 'a'])
    fake.open.get('a')?.onName(null)
    fake.open.get('a')?.onName('caf\ufffd')
    fake.open.get('')?.onName('x\ufffd')
    expect([...fake.reported.hints]).toEqual(['a', ''])
  })
})

describe('the limit of the system', () => {
  test('the watch limit is reported once, with its setting', () => {
    const fake = fakeWatches({ 'a/': '', 'b/': '', 'c/': '' }, { most: 2 })
    expect(fake.watcher.add(['', 'a', 'b', 'c'])).toEqual(['', 'a'])
    expect(fake.watcher.add(['b', 'c'])).toEqual([])
    expect(fake.refused, 'one for each call').toEqual(['b', 'b'])
    expect(fake.watcher.isLimited).toBe(true)
    expect(fake.reported.limits).toEqual([expect.stringContaining('allows no more watches')])
    if (process.platform === 'linux') {
      expect(fake.reported.limits[0]).toMatch(/fs\.inotify\.max_user_watches is \d+; raise it with "sysctl .*=\d+"/)
    }
  })

  test('the watch limit ends when fewer directories are left', () => {
    const fake = fakeWatches({ 'a/': '', 'b/': '' }, { most: 2 })
    fake.watcher.add(['', 'a', 'b'])
    fake.watcher.keepOnly(new Set(['', 'a', 'b']))
    expect(fake.watcher.isLimited).toBe(true)
    fake.watcher.keepOnly(new Set(['', 'b']))
    expect(fake.watcher.add(['', 'b'])).toEqual(['b'])
    fake.watcher.keepOnly(new Set(['', 'b']))
    expect(fake.watcher.isLimited).toBe(false)
  })
})

test('directory watches keep no process alive', () => {
  const directory = temporaryDirectory()
  const before = process.getActiveResourcesInfo().length
  const watch = openDirectoryWatch(directory, { onName() {}, onError() {} })
  expect(process.getActiveResourcesInfo().length).toBe(before)
  watch.close()
})

interface FakeOptions {
  /** The number of watches that the system allows. */
  readonly most?: number
  readonly clock?: Clock
}

/** A watcher whose watches the test provides, by relative path. */
function fakeWatches(files: Readonly<Record<string, string>>, { most = 1_000, clock }: FakeOptions = {}) {
  const root = temporaryDirectory(files)
  const open = new Map<string, DirectoryWatchListener>()
  const refused: string[] = []
  const openFake: OpenDirectoryWatch = (path, listener) => {
    const relative = path.slice(root.length + 1)
    if (open.size >= most) {
      refused.push(relative)
      throw systemError('ENOSPC')
    }
    open.set(relative, listener)
    return { close: () => void open.delete(relative) }
  }
  const { reported, options } = recording(root, 'node', clock)
  const watcher = new NodeWatcher(options, openFake)
  return { root, watcher, open, refused, reported }
}
