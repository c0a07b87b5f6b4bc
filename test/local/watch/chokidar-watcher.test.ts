import { appendFileSync, linkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ChokidarWatcher } from '../../../src/local/watch/chokidar-watcher.ts'
import { openTreeWatcher } from '../../../src/local/watch/open-tree-watcher.ts'
import { temporaryDirectory, writeTree } from '../../support/temporary.ts'
import { directoriesOf, recording, until, watchNewTree } from './watched-tree.ts'

const INTERVAL_MS = 20

/** As on a network file system: the change comes from elsewhere, here through another name of the file outside the tree. */
test('polling by chokidar finds what the kernel does not report [F-FS-22]', async () => {
  await using polled = await watchNewTree('polling chokidar', { 'a.md': 'x' })
  const { reported, options } = recording(polled.root, 'node')
  await using evented = await openTreeWatcher(options)
  evented.add(directoriesOf(polled.root))
  linkSync(join(polled.root, 'a.md'), join(polled.outside, 'twin.md'))
  await polled.hints(['a.md'], () => appendFileSync(join(polled.outside, 'twin.md'), ' and more'))
  writeFileSync(join(polled.root, 'sign.md'), 'x')
  await until('the kernel reports a change in the tree', () => reported.hints.has('sign.md'))
  expect([...reported.hints]).not.toContain('a.md')
})

test('a tree too large for chokidar to poll is refused [F-FS-22]', async () => {
  const directory = temporaryDirectory({ 'a.md': 'x', 'b.md': 'x', 'c.md': 'x' })
  const { options } = recording(directory, 'polling chokidar')
  const opening = ChokidarWatcher.open(options, 3)
  await expect(opening).rejects.toThrow('more than 3 files and directories')
})

test('chokidar stops polling a tree that outgrows it [F-FS-22]', async () => {
  const directory = temporaryDirectory({ 'a.md': 'x' })
  const { options } = recording(directory, 'polling chokidar')
  await using watcher = await ChokidarWatcher.open(options, 3)
  expect(watcher).toMatchObject({ hasStopped: false, isLimited: false, delayMs: INTERVAL_MS })
  writeTree(directory, { 'b.md': 'x', 'c.md': 'x' })
  await until('the watcher stops', () => watcher.hasStopped)
  expect(watcher.isLimited).toBe(false)
})
