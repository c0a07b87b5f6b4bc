import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openLibraryDatabase } from '../../../src/embedded/database/open-library-database.ts'
import { openTables } from '../../../src/embedded/database/open-tables.ts'
import { type Embedder, EmbedderError } from '../../../src/embedded/embedding/embedder.ts'
import { EMBEDDING_LIMITS, openEmbeddingStage } from '../../../src/embedded/embedding/embedding-stage.ts'
import { newIdentifier } from '../../../src/embedded/identifiers.ts'
import { createWriteQueue } from '../../../src/embedded/storage/write-queue.ts'
import { silentLogger } from '../../../src/foundation/logger.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { temporaryDirectory } from '../temporary-library.ts'

/** A stage over a database with one resource, whose embedder fails by these errors, one a call, before it answers. */
function openStage(errors: EmbedderError[]) {
  const database = openLibraryDatabase(join(temporaryDirectory(), 'library.sqlite'))
  const tables = openTables(database)
  const libraryId = tables.libraries.insert({ publicId: 'l', name: 'l', overview: null, createdAtMs: 0 })
  const head = {
    publicId: newIdentifier(0),
    libraryId,
    sha256: Buffer.alloc(32),
    mimeType: 'text/plain',
    createdAtMs: 0,
  }
  const resourceId = tables.resources.insert({ ...head, sizeBytes: 4, title: 'r' })
  tables.passages.insert(resourceId, 0, { text: 'Some text.', unit: 'line', firstUnit: 1, lastUnit: 1 })
  database.exec('UPDATE resource SET status = NULL')
  tables.settings.write('embedder', 'test')
  const clock = manualClock()
  const writes = createWriteQueue(database)
  const calls: number[] = []
  const embedder: Embedder = {
    id: 'test',
    minSimilarity: 0,
    embed: async (texts) => {
      calls.push(clock.monotonicMs())
      const error = errors.shift()
      if (error) throw error
      return texts.map(() => Float32Array.of(1))
    },
    stop: async () => {},
  }
  const warnings: string[] = []
  const logger = { ...silentLogger, warn: (message: string) => void warnings.push(message) }
  const ingested = async () => {}
  const stage = openEmbeddingStage({ tables, writes, embedder, clock, logger, ingested, limits: EMBEDDING_LIMITS })
  onTestFinished(async () => {
    await stage.stop()
    database.close()
  })
  return { stage, clock, calls, warnings, countMissing: tables.chunkVectors.countToEmbed }
}

it('nothing is embedded before the library is calm', async () => {
  const { stage, clock, calls, countMissing } = openStage([])
  stage.wake()
  await clock.advance(1_999)
  stage.wake()
  await clock.advance(1_999)
  expect(calls).toEqual([])
  await clock.advance(1)
  await stage.settled()
  expect(countMissing()).toBe(0)
})

it('pauses grow while the embedder fails, and one warning is enough', async () => {
  const { stage, clock, calls, warnings, countMissing } = openStage(
    Array.from({ length: 9 }, () => new EmbedderError('it is away')),
  )
  stage.wake()
  while (calls.length < 10) await clock.advanceToNext()
  await stage.settled()
  const pauses = calls.slice(1).map((call, index) => (call - (calls[index] ?? 0)) / 1_000)
  expect(pauses).toEqual([5, 10, 20, 40, 80, 160, 320, 600, 600])
  expect(warnings).toEqual(['Cannot embed documents; trying again'])
  expect(countMissing()).toBe(0)
})

it('embedding waits as long as the embedder asks, then goes on', async () => {
  const { stage, clock, calls, countMissing } = openStage([new EmbedderError('slow down', { retryAfterMs: 3_600_000 })])
  stage.wake()
  await clock.advance(EMBEDDING_LIMITS.calmMs + 3_599_999)
  expect(calls).toHaveLength(1)
  await clock.advance(1)
  await stage.settled()
  expect(calls).toHaveLength(2)
  expect(countMissing()).toBe(0)
})

it('a refused text is given up only if the embedder takes another one', async () => {
  const refusal = () => new EmbedderError('no such model', { isAboutText: true })
  const { stage, clock, calls, warnings, countMissing } = openStage([refusal(), refusal(), refusal()])
  stage.wake()
  await clock.advance(EMBEDDING_LIMITS.calmMs)
  expect(calls).toHaveLength(2)
  expect(countMissing()).toBe(1)
  expect(warnings).toHaveLength(1)
  await clock.advance(5_000)
  await stage.settled()
  expect(calls).toHaveLength(4)
  expect(countMissing()).toBe(0)
})
