import type { Database } from 'better-sqlite3'
import { MIME_TYPE, PUBLIC_ID } from './resources-table.ts'

export interface LocationRow {
  readonly directoryId: number
  readonly filename: string
  readonly title: string
  readonly resourceId: number
}

/** A location as a directory listing shows it. */
export interface ListedFile {
  readonly filename: string
  readonly slug: string
  readonly title: string
  readonly id: string
  readonly mimeType: string
}

export function locationsTable(database: Database) {
  const listed = database.prepare<[number, string, number], Omit<ListedFile, 'slug'>>(
    `SELECT filename, coalesce(nullif(location.title, ''), filename) AS title, ${PUBLIC_ID} AS id, ${MIME_TYPE} AS mimeType
     FROM location JOIN resource ON resource.id = resource_id
     WHERE directory_id = ? AND filename > ? ORDER BY filename LIMIT ?`,
  )
  const used = database.prepare<[number, string]>('SELECT 1 FROM location WHERE directory_id = ? AND filename = ?')
  const ofResource = database.prepare<[number, number], { path: string; filename: string }>(
    `SELECT path, filename FROM location JOIN directory ON directory.id = directory_id
     WHERE resource_id = ? ORDER BY path, filename LIMIT ?`,
  )
  const insert = database.prepare<LocationRow>(
    `INSERT INTO location (directory_id, filename, title, resource_id)
     VALUES (@directoryId, @filename, iif(@title = @filename, '', @title), @resourceId)`,
  )
  return {
    /** Returns up to `count` files of a directory after `filename`, in code point order. */
    listAfter: (directoryId: number, filename: string, count: number): ListedFile[] =>
      listed.all(directoryId, filename, count).map((file) => ({ ...file, slug: slugOf(file.filename) })),
    isUsed: (directoryId: number, filename: string) => used.get(directoryId, filename) !== undefined,
    ofResource: (resourceId: number, count: number) => ofResource.all(resourceId, count),
    insert: (location: LocationRow) => {
      insert.run(location)
    },
  }
}

/** Returns the part of a filename before its first dot, because slugs contain no dots. */
function slugOf(filename: string): string {
  const [slug = filename] = filename.split('.', 1)
  return slug
}
