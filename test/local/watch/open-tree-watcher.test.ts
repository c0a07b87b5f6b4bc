import { appendFileSync, linkSync, mkdirSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { systemClock } from '../../../src/foundation/clock.ts'
import { silentLogger } from '../../../src/foundation/logger.ts'
import { openTreeWatcher, systemWatch } from '../../../src/local/watch/open-tree-watcher.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { mount } from '../../support/mounted-disk.ts'
import { temporaryDirectory, writeTree } from '../../support/temporary.ts'
import { directoriesOf, recording, until, type WatchedTree, watchNewTree } from './watched-tree.ts'

const DEEP = Array.from({ length: 40 }, (_, level) => `level-${level}`).join('/')

describe.each(['node', 'chokidar', 'polling chokidar'] as const)('a tree watched by %s', (backEnd) => {
  test('files created, changed, deleted are hinted at', async () => {
    await using tree = await watchNewTree(backEnd, { 'a/old.md': 'old' })
    await tree.hints(['a/new.md', 'top.md'], () => writeTree(tree.root, { 'a/new.md': 'x', 'top.md': 'x' }))
    await tree.hints(['a/old.md'], () => appendFileSync(join(tree.root, 'a/old.md'), ' and more'))
    await tree.hints(['a/old.md'], () => unlinkSync(join(tree.root, 'a/old.md')))
  })

  test('files that editors replace are hinted at', async () => {
    await using tree = await watchNewTree(backEnd, { 'a/text.md': 'old', 'a/other.md': 'old' })
    const inA = (name: string) => join(tree.root, 'a', name)
    await tree.hints(['a/text.md'], () => {
      writeFileSync(inA('text.md.tmp'), 'new text')
      renameSync(inA('text.md.tmp'), inA('text.md'))
    })
    await tree.hints(['a/linked.md'], () => {
      writeFileSync(inA('.linked'), 'x')
      linkSync(inA('.linked'), inA('linked.md'))
      unlinkSync(inA('.linked'))
    })
  })

  test('both names of a rename are hinted at', async () => {
    await using tree = await watchNewTree(backEnd, { 'a/one.md': 'x', 'b/': '' })
    const act = () => renameSync(join(tree.root, 'a/one.md'), join(tree.root, 'b/two.md'))
    await tree.hints(['a/one.md', 'b/two.md'], act)
  })

  test('a new directory and changes in it are hinted at', async () => {
    await using tree = await watchNewTree(backEnd)
    await tree.hints(['new'], () => mkdirSync(join(tree.root, 'new')))
    tree.watcher.add(directoriesOf(tree.root))
    await hintsSoonIn(tree, 'new')
  })

  test('directories that are deleted are hinted at', async () => {
    await using tree = await watchNewTree(backEnd, { 'a/b/c.md': 'x' })
    await tree.hints(['a', 'a/b', 'a/b/c.md'], () => rmSync(join(tree.root, 'a'), { recursive: true }))
  })

  test('changes deep in a tree are hinted at', async () => {
    await using tree = await watchNewTree(backEnd, { [`${DEEP}/old.md`]: 'x' })
    await tree.hints([`${DEEP}/new.md`], () => writeFileSync(join(tree.root, DEEP, 'new.md'), 'x'))
  })

  test('names that are hard to read are hinted at', async () => {
    const names = [' leading', 'new\nline', '\u202ebidi', '💥', '*?[a]', 'é', 'e\u0301']
    await using tree = await watchNewTree(backEnd, { 'a/': '' })
    const paths = names.map((name) => `a/${name}`)
    await tree.hints(paths, () => writeTree(tree.root, Object.fromEntries(paths.map((path) => [path, 'x']))))
  })

  test('a root that goes away is hinted at', async () => {
    await using tree = await watchNewTree(backEnd, { 'a/': '' })
    await tree.hints([''], () => rmSync(tree.root, { recursive: true }))
  })

  test('nothing is reported after the watcher is closed', async () => {
    const tree = await watchNewTree(backEnd)
    await using beside = await watchNewTree(backEnd)
    await tree.watcher[Symbol.asyncDispose]()
    writeFileSync(join(tree.root, 'late.md'), 'x')
    await beside.hints(['sign.md'], () => writeFileSync(join(beside.root, 'sign.md'), 'x'))
    expect([...tree.reported.hints]).toEqual([])
    await tree[Symbol.asyncDispose]()
  })
})

describe.each(['node', 'chokidar', 'polling chokidar'] as const)('directories with content under %s', (backEnd) => {
  test('new directories are watched to their depth', async () => {
    await using tree = await watchNewTree(backEnd)
    await tree.hints(['new'], () => writeTree(tree.root, { 'new/inner/most/old.md': 'x' }))
    tree.watcher.add(directoriesOf(tree.root))
    await hintsSoonIn(tree, 'new/inner/most')
  })

  test('directories moved in from outside are watched', async () => {
    await using tree = await watchNewTree(backEnd)
    writeTree(tree.outside, { 'moved/inner/old.md': 'x' })
    await tree.hints(['moved'], () => renameSync(join(tree.outside, 'moved'), join(tree.root, 'moved')))
    tree.watcher.add(directoriesOf(tree.root))
    await hintsSoonIn(tree, 'moved/inner')
  })

  test('a renamed directory is watched in its new place', async () => {
    await using tree = await watchNewTree(backEnd, { 'a/inner/old.md': 'x' })
    await tree.hints(['a', 'b'], () => renameSync(join(tree.root, 'a'), join(tree.root, 'b')))
    tree.watcher.add(directoriesOf(tree.root))
    await hintsSoonIn(tree, 'b/inner')
  })
})

test.each(['node', 'chokidar'] as const)('a burst is reported as a loss by %s [F-FS-21]', async (backEnd) => {
  const clock = manualClock()
  await using tree = await watchNewTree(backEnd, {}, clock)
  const burst = Array.from({ length: 9_000 }, (_, index) => [`f${index}.md`, 'x'])
  writeTree(tree.root, Object.fromEntries(burst))
  await until('a loss to be noticed', () => clock.countSleepers() > 0)
  expect(tree.reported.losses).toEqual([])
  await clock.advance(3_000)
  expect(tree.reported.losses).toEqual(['burst'])
})

test.each(['node', 'chokidar', 'polling chokidar'] as const)(
  'a root that is missing is refused by %s',
  async (backEnd) => {
    await using tree = await watchNewTree('node')
    const { options } = recording(join(tree.outside, 'missing'), backEnd)
    await expect(openTreeWatcher(options)).rejects.toMatchObject({ code: 'root-missing' })
  },
)

const POLL_MS = 20
const watchHere = () => systemWatch('auto', POLL_MS, systemClock, silentLogger)

test.runIf(process.platform === 'linux')('a local file system is watched by its events', async () => {
  const directory = temporaryDirectory()
  expect(watchHere().choose(directory).backEnd).toBe('node')
})

/** A file system in memory that the table does not name, so its events may be incomplete. */
test('a file system of unknown kind is polled by chokidar [F-FS-22]', async () => {
  const directory = temporaryDirectory()
  const root = join(directory, 'mounted')
  using _mounted = mount(['-t', 'hugetlbfs', 'none'], root)
  writeTree(root, { 'a/': '' })
  const { choose, watch } = watchHere()
  const { backEnd, reason } = choose(root)
  expect({ backEnd, reason }).toEqual({ backEnd: 'chokidar', reason: 'polling: unknown file system 0x958458f6' })
  const { reported, options } = recording(root, 'chokidar')
  await using watcher = await watch(root, 'chokidar', options.events)
  expect(watcher.delayMs).toBe(POLL_MS)
  await hintsSoonIn({ root, reported }, 'a')
})

/** Writes files until one has a hint, because a whole-tree watcher may see a new directory late. */
async function hintsSoonIn(
  { root, reported }: Pick<WatchedTree, 'root' | 'reported'>,
  directory: string,
): Promise<void> {
  let count = 0
  await until(`hints in ${directory}`, () => {
    count += 1
    writeFileSync(join(root, directory, `try-${count}.md`), '')
    return [...reported.hints].some((hint) => hint.startsWith(`${directory}/try-`))
  })
}
