import { createHash } from 'node:crypto'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { openLibraryDatabase } from '../../../src/embedded/database/open-library-database.ts'
import { openTables } from '../../../src/embedded/database/open-tables.ts'
import { adoptEmbedder, embedNextChunks } from '../../../src/embedded/embedding/embed-resource.ts'
import type { Embedder, Vector } from '../../../src/embedded/embedding/embedder.ts'
import { openOfflineEmbedder } from '../../../src/embedded/embedding/offline-embedder.ts'
import { createWriteQueue } from '../../../src/embedded/storage/write-queue.ts'
import { systemClock } from '../../../src/foundation/clock.ts'
import { silentLogger } from '../../../src/foundation/logger.ts'
import { print } from '../instrument.ts'

const REPORTED = 100

/**
 * Embeds all documents of a library that nobody serves, as the library itself would, with the offline embedder and the vectors that
 * earlier runs kept in `vectorsFile`. A run that was interrupted continues there.
 */
export async function embedCorpus(dataDir: string, vectorsFile: string): Promise<void> {
  const database = openLibraryDatabase(join(dataDir, 'library.sqlite'))
  const tables = openTables(database)
  const writes = createWriteQueue(database, tables.contentBlocks)
  const offline = openOfflineEmbedder({ clock: systemClock, logger: silentLogger })
  const kept = new Database(vectorsFile)
  try {
    const parts = { tables, writes, embedder: keepVectors(offline, kept) }
    await adoptEmbedder(parts)
    let reported = tables.chunkVectors.countToEmbed() + REPORTED
    for (let next = tables.chunkVectors.nextToEmbed(); next !== undefined; next = tables.chunkVectors.nextToEmbed()) {
      const left = tables.chunkVectors.countToEmbed()
      if (left <= reported - REPORTED) {
        print(`${left} documents to embed`)
        reported = left
      }
      await embedNextChunks(parts, next)
    }
  } finally {
    await offline.stop()
    kept.close()
    database.close()
  }
}

/** An embedder that embeds no text twice: the vectors, or that there is none, are kept by the model and the hash of the text. */
function keepVectors(embedder: Embedder, kept: Database.Database): Embedder {
  kept.exec(`PRAGMA journal_mode = WAL;
    CREATE TABLE IF NOT EXISTS vector (model TEXT, hash BLOB, vector BLOB, PRIMARY KEY (model, hash)) WITHOUT ROWID`)
  const select = kept.prepare<[string, Buffer], Buffer | null>('SELECT vector FROM vector WHERE model = ? AND hash = ?')
  const read = select.pluck()
  const insert = kept.prepare<[string, Buffer, Buffer | null]>('INSERT OR REPLACE INTO vector VALUES (?, ?, ?)')
  return {
    ...embedder,
    embed: async (texts, purpose) => {
      const model = `${embedder.id}, ${purpose}`
      const hashes = texts.map((text) => createHash('sha256').update(text).digest())
      const known = hashes.map((hash) => read.get(model, hash))
      const isNew = (index: number) => known[index] === undefined
      const newVectors = await embedder.embed(
        texts.filter((_, index) => isNew(index)),
        purpose,
      )
      const remaining = newVectors.values()
      return hashes.map((hash, index) => {
        if (!isNew(index)) return vectorOf(known[index])
        const vector = remaining.next().value
        insert.run(model, hash, vector ? Buffer.from(vector.buffer) : null)
        return vector
      })
    },
  }
}

function vectorOf(bytes: Buffer | null | undefined): Vector | undefined {
  return bytes ? new Float32Array(Uint8Array.from(bytes).buffer) : undefined
}
