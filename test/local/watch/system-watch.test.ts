import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../../src/foundation/clock.ts'
import { silentLogger } from '../../../src/foundation/logger.ts'
import { systemWatch } from '../../../src/local/watch/system-watch.ts'
import { mayMount, mount } from '../../support/mounted-disk.ts'
import { temporaryDirectory, writeTree } from '../trees.ts'
import { recording, until } from './watched-tree.ts'

const MEANS = { wanted: 'auto', pollIntervalMs: 20, clock: systemClock, logger: silentLogger } as const

test.runIf(process.platform === 'linux')('a local file system is watched by its events', async () => {
  using directory = temporaryDirectory()
  expect(systemWatch(MEANS).choose(directory.path).backEnd).toBe('node')
})

/** A file system in memory that the table does not name, so its events may be incomplete. */
test.runIf(mayMount)('a file system of unknown kind is polled by chokidar [F-FS-22]', async () => {
  using directory = temporaryDirectory()
  const root = join(directory.path, 'mounted')
  using _mounted = mount(['-t', 'hugetlbfs', 'none'], root)
  writeTree(root, { 'a/': '' })
  const { choose, watch } = systemWatch(MEANS)
  const { backEnd, reason } = choose(root)
  expect({ backEnd, reason }).toEqual({ backEnd: 'chokidar', reason: 'polling: unknown file system 0x958458f6' })
  const { reported, options } = recording(root, 'chokidar')
  await using watcher = await watch(root, 'chokidar', options.events)
  expect(watcher.delayMs).toBe(MEANS.pollIntervalMs)
  writeFileSync(join(root, 'a/new.md'), '')
  await until('the new file is found', () => reported.hints.has('a/new.md'))
})
