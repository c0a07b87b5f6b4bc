import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openLibraryDatabase } from '../../../src/embedded/database/open-library-database.ts'
import { openTables } from '../../../src/embedded/database/open-tables.ts'
import { newIdentifier } from '../../../src/embedded/identifiers.ts'
import { recordUpload } from '../../../src/embedded/storage/record-upload.ts'
import { createWriteQueue } from '../../../src/embedded/storage/write-queue.ts'
import { temporaryDirectory } from '../temporary-library.ts'

function openLibraries(count: number) {
  const database = openLibraryDatabase(join(temporaryDirectory(), 'library.sqlite'))
  onTestFinished(() => void database.close())
  const tables = openTables(database)
  const libraries = Array.from({ length: count }, (_, number) => {
    const id = tables.libraries.insert({ publicId: `${number}`, name: `${number}`, overview: null, createdAtMs: 0 })
    tables.directories.insertRoot(id)
    return { id, directoryId: tables.directories.byPath(id, '/')?.id ?? 0 }
  })
  const record = (number: number, text: string) => {
    const { id: libraryId = 0, directoryId = 0 } = libraries[number] ?? {}
    const bytes = Buffer.from(text)
    const sha256 = createHash('sha256').update(bytes).digest()
    const content = { kind: 'small', bytes, sha256, sizeBytes: bytes.length } as const
    const names = { title: 'a', mimeType: 'text/plain', publicId: newIdentifier(0) }
    recordUpload(tables, { ...names, libraryId, directoryId, content, createdAtMs: 0, ingested: undefined })
    return tables.resources.byContent(sha256, libraryId, 'text/plain')?.id ?? 0
  }
  const { write } = createWriteQueue(database, tables.contentBlocks)
  const countBlocks = () => database.prepare('SELECT count(*) FROM content_block').pluck().get()
  /** As a reader sees it that has kept nothing. */
  const readAnew = (id: number) => openTables(database).smallContents.read(id)?.toString()
  return { database, tables, libraries, record, write, countBlocks, readAnew }
}

const textOf = (number: number) => `${number} pelicans dive. `.repeat(20 + number)

it('contents that share blocks are read as they were recorded', async () => {
  const { record, write, countBlocks, readAnew, tables } = openLibraries(2)
  const texts = Array.from({ length: 120 }, (_, number) => textOf(number))
  const ids: number[] = []
  for (const [number, text] of texts.entries()) ids.push(await write(() => record(number % 2, text)))
  expect(ids.map(readAnew)).toEqual(texts)
  expect(ids.map((id) => tables.smallContents.read(id)?.toString())).toEqual(texts)
  expect(tables.smallContents.findDamaged()).toBeUndefined()
  expect(countBlocks()).toBeLessThan(12)
})

it('a failed transaction leaves nothing in the blocks of the next one', async () => {
  const { record, write, readAnew } = openLibraries(1)
  const failing = write(() => {
    record(0, textOf(2))
    throw new Error('a faulty write')
  })
  const beside = write(() => record(0, textOf(3)))
  await expect(failing).rejects.toThrow('a faulty write')
  const after = await write(() => record(0, textOf(4)))
  expect([await beside, after].map(readAnew)).toEqual([3, 4].map(textOf))
})

it('a deleted library takes its blocks along and no others', async () => {
  const { record, write, readAnew, countBlocks, tables, libraries } = openLibraries(2)
  const [kept] = await Promise.all([write(() => record(0, textOf(1))), write(() => record(1, textOf(2)))])
  expect(countBlocks()).toBe(2)
  const { id = 0 } = libraries[1] ?? {}
  tables.libraries.remove(id)
  while (tables.deletedLibraries.next() !== undefined)
    await write(() => tables.deletedLibraries.removePiece(id, () => false))
  expect(countBlocks()).toBe(1)
  expect(readAnew(kept ?? 0)).toBe(textOf(1))
})

it('a damaged block is noticed', async () => {
  const { database, record, write, tables } = openLibraries(1)
  await write(() => record(0, textOf(1)))
  database.exec('UPDATE content_block SET bytes = zeroblob(length(bytes))')
  expect(tables.smallContents.findDamaged()).toMatch(/^[0-9a-f]{32}$/)
})
