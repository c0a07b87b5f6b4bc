import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openStore } from '../../../src/store/open-store.ts'
import { prepareScannedFiles, SCAN_TABLES } from '../../../src/store/tables/files.ts'
import { pinMirror } from '../../support/record-file.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

function recording() {
  const store = openStore(temporaryDirectory())
  const mirror = pinMirror(store)
  const directoryId = store.directories.ensure(mirror.id, '')
  const file = { directoryId, size: 1, mtimeNs: 1n, ctimeNs: 1n, inode: 1n, isRacy: false, mime: 'text/plain' }
  const record = (name: string, letter: number, more: Partial<typeof file> = {}) =>
    store.scannedFiles.record(
      mirror,
      { ...file, name, sha256: Buffer.alloc(32, letter), previous: undefined, ...more },
      0,
    )
  return { store, mirror, file, directoryId, record }
}

describe('a row that the database refuses', () => {
  test('a refused file leaves neither a row nor a content, and others are recorded [F-FS-28]', () => {
    const { store, directoryId, record } = recording()
    using _ = store
    const before = store.scannedFiles.lastContentId()
    expect(record('time.md', 1, { ctimeNs: 2n ** 80n })).toBeUndefined()
    expect(record('size.md', 2, { size: 2 ** 80 })).toBeUndefined()
    expect(store.scannedFiles.lastContentId()).toBe(before)
    const contentId = record('good.md', 3)
    expect(record('copy.md', 3, { inode: 2n ** 80n }), 'its content is that of another file').toBeUndefined()
    expect(store.files.find(directoryId, 'good.md')?.contentId).toBe(contentId)
    expect(store.files.find(directoryId, 'copy.md')).toBeUndefined()
  })

  test('a fault that is not of the row is passed on', () => {
    const { store, file, mirror } = recording()
    store[Symbol.dispose]()
    const database = new Database(join(store.directory, 'store.db'))
    onTestFinished(() => void database.close())
    database.exec(SCAN_TABLES)
    const { record } = prepareScannedFiles(database)
    database.pragma('query_only = ON')
    const row = { ...file, name: 'a.md', sha256: Buffer.alloc(32), previous: undefined }
    expect(() => record(mirror, row, 0)).toThrow(/readonly/)
  })
})
