import { createHash } from 'node:crypto'
import type { Database } from 'better-sqlite3'
import { DamagedBytesError, packBytes, unpackBytes } from '../packed-bytes.ts'

interface StoredContent {
  readonly bytes: Buffer
  readonly sizeBytes: number
}

export type SmallContentsTable = ReturnType<typeof smallContentsTable>

/** The bytes of small files, by resource, compressed where that makes them shorter. */
export function smallContentsTable(database: Database) {
  const insert = database.prepare<[number, Buffer]>('INSERT INTO small_content (resource_id, bytes) VALUES (?, ?)')
  const replace = database.prepare<[Buffer, number]>('UPDATE small_content SET bytes = ? WHERE resource_id = ?')
  const select = database.prepare<[number], StoredContent>(
    `SELECT bytes, size_bytes AS sizeBytes FROM small_content JOIN resource ON resource.id = resource_id
     WHERE resource_id = ?`,
  )
  const all = database.prepare<[], StoredContent & { publicId: string; sha256: Buffer }>(
    `SELECT public_id AS publicId, sha256, size_bytes AS sizeBytes, bytes
     FROM small_content JOIN resource ON resource.id = resource_id`,
  )
  // The passages of a resource are mostly read one after the other; no id is ever that of another content.
  let last: { readonly resourceId: number; readonly bytes: Buffer } | undefined
  return {
    insert: (resourceId: number, bytes: Buffer) => {
      insert.run(resourceId, packBytes(bytes))
    },
    /** Throws DamagedBytesError. */
    read: (resourceId: number): Buffer | undefined => {
      if (last?.resourceId === resourceId) return last.bytes
      const stored = select.get(resourceId)
      if (!stored) return undefined
      last = { resourceId, bytes: unpackBytes(stored.bytes, stored.sizeBytes) }
      return last.bytes
    },
    /** Compresses what an earlier version stored as it was. */
    pack: (resourceId: number) => {
      const stored = select.get(resourceId)
      if (stored && stored.bytes.length === stored.sizeBytes) replace.run(packBytes(stored.bytes), resourceId)
    },
    /** The identifier of a resource whose bytes are not those of its hash; undefined when all are. Reads every content. */
    findDamaged(): string | undefined {
      for (const { publicId, sha256, ...stored } of all.iterate()) {
        if (!isWhole(stored, sha256)) return publicId
      }
      return undefined
    },
  }
}

function isWhole({ bytes, sizeBytes }: StoredContent, sha256: Buffer): boolean {
  try {
    return createHash('sha256').update(unpackBytes(bytes, sizeBytes)).digest().equals(sha256)
  } catch (error) {
    if (error instanceof DamagedBytesError) return false
    throw error
  }
}
