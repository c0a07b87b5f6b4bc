import { createHash } from 'node:crypto'
import type { Database } from 'better-sqlite3'
import { DamagedBytesError, packBytes, unpackBytes } from '../../contents/packed-bytes.ts'
import { contentBlockReader } from './content-blocks.ts'
import { PUBLIC_ID } from './resources.ts'

interface StoredContent {
  readonly bytes: Buffer
  readonly sizeBytes: number
}

const RECENT_BYTES = 2 ** 21

export type SmallContentsTable = ReturnType<typeof smallContentsTable>

/** The bytes of small files, by resource, compressed where that makes them shorter; the smallest ones share blocks. */
export function smallContentsTable(database: Database, blocks = contentBlockReader(database)) {
  const insert = database.prepare<[number, Buffer]>('INSERT INTO small_content (resource_id, bytes) VALUES (?, ?)')
  const select = database.prepare<[number], StoredContent>(
    `SELECT bytes, size_bytes AS sizeBytes FROM small_content JOIN resource ON resource.id = resource_id
     WHERE resource_id = ?`,
  )
  const all = database.prepare<[], StoredContent & { publicId: string; sha256: Buffer }>(
    `SELECT ${PUBLIC_ID} AS publicId, sha256, size_bytes AS sizeBytes, bytes
     FROM small_content JOIN resource ON resource.id = resource_id`,
  )
  const inBlocks = database.prepare<[], Parameters<typeof blocks.readPlace>[0] & { publicId: string; sha256: Buffer }>(
    `SELECT ${PUBLIC_ID} AS publicId, sha256, size_bytes AS sizeBytes, block_id AS blockId, block_start AS blockStart
     FROM resource WHERE block_id IS NOT NULL`,
  )
  const recent = new RecentContents()
  return {
    insert: (resourceId: number, bytes: Buffer) => {
      insert.run(resourceId, packBytes(bytes))
      recent.keep(resourceId, bytes)
    },
    /** Throws DamagedBytesError. */
    read: (resourceId: number): Buffer | undefined => {
      const known = recent.get(resourceId)
      if (known) return known
      const stored = select.get(resourceId)
      if (!stored) return blocks.read(resourceId)
      const bytes = unpackBytes(stored.bytes, stored.sizeBytes)
      recent.keep(resourceId, bytes)
      return bytes
    },
    /** The identifier of a resource whose bytes are not those of its hash; undefined when all are. Reads every content. */
    findDamaged(): string | undefined {
      for (const { publicId, sha256, ...stored } of all.iterate()) {
        if (!isWhole(sha256, () => unpackBytes(stored.bytes, stored.sizeBytes))) return publicId
      }
      for (const { publicId, sha256, ...place } of inBlocks.iterate()) {
        if (!isWhole(sha256, () => blocks.readPlace(place))) return publicId
      }
      return undefined
    },
  }
}

/**
 * The last contents, up to RECENT_BYTES: what was uploaded is ingested and asked for next, and passages of a resource are read one after
 * the other. An id that a transaction took before it was rolled back gets its bytes anew when it is inserted again.
 */
class RecentContents {
  readonly #contents = new Map<number, Buffer>()
  #bytes = 0

  get(resourceId: number): Buffer | undefined {
    return this.#contents.get(resourceId)
  }

  keep(resourceId: number, bytes: Buffer): void {
    this.#drop(resourceId)
    this.#contents.set(resourceId, bytes)
    this.#bytes += bytes.length
    for (const oldest of this.#contents.keys()) {
      if (this.#bytes <= RECENT_BYTES) break
      this.#drop(oldest)
    }
  }

  #drop(resourceId: number): void {
    this.#bytes -= this.#contents.get(resourceId)?.length ?? 0
    this.#contents.delete(resourceId)
  }
}

function isWhole(sha256: Buffer, read: () => Buffer | undefined): boolean {
  try {
    const bytes = read()
    return bytes !== undefined && createHash('sha256').update(bytes).digest().equals(sha256)
  } catch (error) {
    if (error instanceof DamagedBytesError) return false
    throw error
  }
}
