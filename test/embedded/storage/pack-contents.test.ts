import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openLibraryDatabase } from '../../../src/embedded/database/open-library-database.ts'
import { openTables } from '../../../src/embedded/database/open-tables.ts'
import { dataPaths } from '../../../src/embedded/storage/data-directory.ts'
import { openFileStore } from '../../../src/embedded/storage/file-store.ts'
import { openContentPacking } from '../../../src/embedded/storage/pack-contents.ts'
import { systemClock } from '../../../src/foundation/clock.ts'
import { silentLogger } from '../../../src/foundation/logger.ts'
import { temporaryDirectory } from '../temporary-library.ts'

const COUNT = 80
const clock = { ...systemClock, sleep: async (_: number, signal?: AbortSignal) => signal?.throwIfAborted() }

/** Records of an older library with larger contents; `onPack` is called instead of compressing one. */
function olderLibrary(onPack: (number: number) => void) {
  const dataDir = temporaryDirectory()
  const database = openLibraryDatabase(join(dataDir, 'library.sqlite'))
  onTestFinished(() => void database.close())
  const tables = openTables(database)
  const libraryId = tables.libraries.insert({ publicId: 'l', name: 'l', overview: null, createdAtMs: 0 })
  const head = { libraryId, mimeType: 'text/plain', sizeBytes: 100_000, title: 'a', createdAtMs: 0 }
  for (let number = 1; number <= COUNT; number += 1) {
    tables.resources.insert({ ...head, publicId: `${number}`.padStart(32, '0'), sha256: Buffer.alloc(32, number) })
  }
  tables.settings.write('contents-to-pack', String(COUNT))
  const removed: number[] = []
  const files = {
    ...openFileStore(dataPaths(dataDir)),
    pack: async (sha256: Buffer) => onPack(sha256[0] ?? 0),
    remove: (sha256: Buffer) => void removed.push(sha256[0] ?? 0),
  }
  const open = () => openContentPacking({ tables, files, logger: silentLogger, clock })
  return { database, removed, open }
}

it('older contents are all compressed, across a restart, and once', async () => {
  const packed: number[] = []
  let stop = () => {}
  const { open, removed } = olderLibrary((number) => {
    packed.push(number)
    if (packed.length === 40) stop()
  })
  const first = open()
  stop = () => void first.stop()
  first.start()
  await first.settled()
  expect(packed).toHaveLength(40)
  for (const _ of ['continues', 'has nothing left']) {
    const next = open()
    next.start()
    await next.settled()
  }
  // The batch in which it was stopped is done again.
  expect(packed.length).toBeLessThan(COUNT + 32)
  expect(new Set(packed).size).toBe(COUNT)
  expect(removed).toEqual([])
})

it('a content whose library is deleted while it is compressed is removed', async () => {
  const { open, removed, database } = olderLibrary((number) => {
    if (number === 7) database.exec('DELETE FROM resource WHERE id = 7')
  })
  const packing = open()
  packing.start()
  await packing.settled()
  expect(removed).toEqual([7])
})
