/** Writes that leave no trace in a file's times, as through a memory map. */
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/foundation/clock.ts'
import { type FileStats, type FileSystem, nodeFileSystem } from '../../src/local/read/file-system.ts'
import { accountOf, mirrorOf, startEngine } from '../support/engine.ts'
import { readLibrary } from '../support/library-contents.ts'
import { temporaryDirectory, writeTree } from '../support/temporary.ts'

/** The real file system, which always shows the first stats that it read of a file. */
function withoutTrace(): FileSystem {
  const first = new Map<bigint, FileStats>()
  const remember = (stats: FileStats): FileStats => {
    const known = first.get(stats.ino) ?? stats
    first.set(stats.ino, known)
    return known
  }
  return {
    ...nodeFileSystem,
    lstatSync: (path, options) => remember(nodeFileSystem.lstatSync(path, options)),
    fstatSync: (descriptor, options) => remember(nodeFileSystem.fstatSync(descriptor, options)),
  }
}

test('a write without a trace is found by the scrub', async () => {
  const root = writeTree(temporaryDirectory(), { 'map.md': 'first', 'other.md': 'other' })
  const later = { ...systemClock, nowMs: () => systemClock.nowMs() + 60_000 }
  const { service, tested } = await startEngine({}, { fs: withoutTrace(), clock: later })
  const mirror = mirrorOf(root)
  await tested.sync([mirror])
  writeFileSync(join(root, 'map.md'), 'again')

  expect(accountOf(await tested.sync([mirror])).files).toMatchObject({ unchanged: 2, hashed: 0, changed: 0 })
  const scrubbed = accountOf(await tested.sync([mirror], { hashEverything: true }))
  expect(scrubbed.files).toMatchObject({ hashed: 2, unchanged: 1, changed: 1 })
  expect(scrubbed.uploads.created + scrubbed.uploads.duplicates).toBe(1)
  expect(readLibrary(service.dataDir)).toHaveLength(3)
})

test('a write without a trace before its upload is read again and sent', async () => {
  const { service, tested } = await startEngine({}, { fs: withoutTrace() })
  const root = writeTree(temporaryDirectory(), { 'map.md': 'first' })
  const mirror = mirrorOf(root)
  service.onResponse = ({ route }) => {
    if (route === 'createDirectory') writeFileSync(join(root, 'map.md'), 'later')
  }
  expect((await tested.sync([mirror])).outcome).toBe('done')
  const sha256 = createHash('sha256').update('later').digest('hex')
  expect(readLibrary(service.dataDir)).toMatchObject([{ sha256 }])
})
