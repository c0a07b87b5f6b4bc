import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openLibraryDatabase } from '../../../src/embedded/database/open-library-database.ts'
import { openTables } from '../../../src/embedded/database/open-tables.ts'
import { newIdentifier } from '../../../src/embedded/identifiers.ts'
import { EXTRACTION_LIMITS } from '../../../src/embedded/ingest/extraction-limits.ts'
import { openIngestQueue } from '../../../src/embedded/ingest/ingest-queue.ts'
import { dataPaths } from '../../../src/embedded/storage/data-directory.ts'
import { openFileStore } from '../../../src/embedded/storage/file-store.ts'
import { createWriteQueue } from '../../../src/embedded/storage/write-queue.ts'
import { systemClock } from '../../../src/foundation/clock.ts'
import { silentLogger } from '../../../src/foundation/logger.ts'
import { temporaryDirectory } from '../temporary-library.ts'

function openDatabase() {
  const directory = temporaryDirectory()
  const database = openLibraryDatabase(join(directory, 'library.sqlite'))
  onTestFinished(() => void database.close())
  const tables = openTables(database)
  const libraryId = tables.libraries.insert({ publicId: 'l', name: 'l', overview: null, createdAtMs: 0 })
  const addText = (text: string): number => {
    const bytes = Buffer.from(text)
    const sha256 = createHash('sha256').update(bytes).digest()
    const head = { libraryId, mimeType: 'text/plain', sizeBytes: bytes.length, createdAtMs: 0 }
    const id = tables.resources.insert({ publicId: newIdentifier(0), sha256, title: 'a.txt', ...head })
    tables.smallContents.insert(id, bytes)
    return id
  }
  return { database, directory, tables, addText }
}

it('small texts that wait together are ingested in one transaction', async () => {
  const { database, directory, tables, addText } = openDatabase()
  const ids = Array.from({ length: 20 }, (_, number) => addText(`${number} pelicans\n`.repeat(number * 100 + 1)))
  const queue = createWriteQueue(database)
  let transactions = 0
  const write: typeof queue.write = (work) => {
    transactions += 1
    return queue.write(work)
  }
  const files = openFileStore(dataPaths(directory))
  const around = { logger: silentLogger, clock: systemClock, limits: EXTRACTION_LIMITS }
  const ingestion = openIngestQueue({ tables, writes: { write }, files, ...around })
  ingestion.wake()
  await ingestion.settled()
  expect(transactions).toBe(1)
  expect(new Set(ids.map((id) => tables.resources.byId(id)?.status))).toEqual(new Set(['completed']))
  await ingestion.stop()
})

it('a content whose transaction failed is never read as another', () => {
  const { database, tables, addText } = openDatabase()
  const failing = database.transaction(() => {
    addText('rolled back')
    throw new Error('a faulty write')
  })
  expect(failing).toThrow()
  const id = addText('written after it')
  expect(tables.smallContents.read(id)?.toString()).toBe('written after it')
})
