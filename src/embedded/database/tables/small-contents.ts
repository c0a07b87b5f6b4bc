import type { Database } from 'better-sqlite3'

export type SmallContentsTable = ReturnType<typeof smallContentsTable>

/** The bytes of small files, by resource. */
export function smallContentsTable(database: Database) {
  const insert = database.prepare<[number, Buffer]>('INSERT INTO small_content (resource_id, bytes) VALUES (?, ?)')
  const select = database.prepare<[number], Buffer>('SELECT bytes FROM small_content WHERE resource_id = ?').pluck()
  return {
    insert: (resourceId: number, bytes: Buffer) => {
      insert.run(resourceId, bytes)
    },
    read: (resourceId: number) => select.get(resourceId),
  }
}
