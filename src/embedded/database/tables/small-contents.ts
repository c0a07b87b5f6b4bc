import { createHash } from 'node:crypto'
import type { Database } from 'better-sqlite3'

export type SmallContentsTable = ReturnType<typeof smallContentsTable>

/** The bytes of small files, by resource. */
export function smallContentsTable(database: Database) {
  const insert = database.prepare<[number, Buffer]>('INSERT INTO small_content (resource_id, bytes) VALUES (?, ?)')
  const select = database.prepare<[number], Buffer>('SELECT bytes FROM small_content WHERE resource_id = ?').pluck()
  const all = database.prepare<[], { publicId: string; sha256: Buffer; bytes: Buffer }>(
    'SELECT public_id AS publicId, sha256, bytes FROM small_content JOIN resource ON resource.id = resource_id',
  )
  return {
    insert: (resourceId: number, bytes: Buffer) => {
      insert.run(resourceId, bytes)
    },
    read: (resourceId: number) => select.get(resourceId),
    /** The identifier of a resource whose bytes are not those of its hash; undefined when all are. Reads every content. */
    findDamaged(): string | undefined {
      for (const { publicId, sha256, bytes } of all.iterate()) {
        if (!createHash('sha256').update(bytes).digest().equals(sha256)) return publicId
      }
      return undefined
    },
  }
}
