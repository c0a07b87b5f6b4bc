import { symlinkSync, watch } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { countWatches } from '../../../src/local/watch/watch-limit.ts'
import { temporaryDirectory, writeTree } from '../../support/temporary.ts'

test.runIf(process.platform === 'linux')('the watches of this process are counted', () => {
  const before = countWatches()
  const watchers = ['a', 'b', 'c'].map((name) => watch(writeTree(join(temporaryDirectory(), name), {})))
  onTestFinished(() => {
    for (const watcher of watchers) watcher.close()
  })
  expect(before?.limit).toBeGreaterThan(0)
  expect(countWatches()?.used).toBeGreaterThanOrEqual(3)
})

test('the watches of all processes are added up', () => {
  const proc = writeTree(temporaryDirectory(), {
    'sys/fs/inotify/max_user_watches': '100\n',
    '1/fdinfo/3': 'pos: 0\ninotify wd:1 ino:1\ninotify wd:2 ino:2\n',
    '1/fd/': '',
    '2/fdinfo/4': 'inotify wd:1 ino:1\n',
    '2/fd/': '',
    'self/fd/': '',
  })
  symlinkSync('anon_inode:inotify', join(proc, '1/fd/3'))
  symlinkSync('anon_inode:inotify', join(proc, '2/fd/4'))
  symlinkSync('/dev/null', join(proc, '2/fd/5'))
  expect(countWatches(proc)).toEqual({ used: 3, limit: 100 })
})

test('watches have no limit on other systems', () => {
  expect(countWatches(temporaryDirectory())).toBeUndefined()
})
