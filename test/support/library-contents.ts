import { join } from 'node:path'
import Database from 'better-sqlite3'

/** What a library really holds, read from its own database: one line for each resource that is not deleted, with its places. */
export interface StoredResource {
  readonly id: string
  readonly sha256: string
  readonly mime: string
  readonly title: string
  readonly places: readonly string[]
}

export function readLibrary(dataDir: string): StoredResource[] {
  const database = new Database(join(dataDir, 'library.sqlite'), { readonly: true })
  try {
    const resources = database
      .prepare<[], { key: number; id: string; sha256: string; mime: string; title: string }>(
        `SELECT id AS key, lower(hex(public_id)) AS id, lower(hex(sha256)) AS sha256, coalesce(mime_type, 'text/plain') AS mime, title FROM resource
         WHERE library_id NOT IN (SELECT id FROM library WHERE is_deleted = 1) ORDER BY id`,
      )
      .all()
    const places = database.prepare<[number], { path: string; filename: string }>(
      'SELECT d.path, l.filename FROM location l JOIN directory d ON d.id = l.directory_id WHERE l.resource_id = ?',
    )
    return resources.map(({ key, ...resource }) => {
      const found = places.all(key).map(({ path, filename }) => `${path === '/' ? '' : path}/${filename}`)
      return { ...resource, places: found.sort() }
    })
  } finally {
    database.close()
  }
}

/** The titles of all resources, sorted. */
export function titlesIn({ dataDir }: { readonly dataDir: string }): string[] {
  return readLibrary(dataDir)
    .map(({ title }) => title)
    .sort()
}
