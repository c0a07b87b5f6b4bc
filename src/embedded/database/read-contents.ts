import { dirname, join } from 'node:path'
import type { Database } from 'better-sqlite3'
import { createPartReader } from '../contents/read-part.ts'
import type { SmallContentsTable } from './small-contents-table.ts'

/** Returns the directory of the contents that are too large for the database. */
export function contentDirOf(databaseFile: string): string {
  return join(dirname(databaseFile), 'files')
}

/** Returns the path of a content that is too large for the database; a compressed file has `.zst` appended. */
export function contentPath(contentDir: string, sha256: Buffer): string {
  const hex = sha256.toString('hex')
  return join(contentDir, hex.slice(0, 2), hex)
}

/** Reads a part of a resource's content, up to its end; returns undefined if the content is missing. Throws DamagedBytesError. */
export type ReadContent = (resourceId: number, offset: number, length: number) => Buffer | undefined

/** Returns a reader of contents in a database and in the files beside it; consecutive parts of one content are read fastest. */
export function contentReader(database: Database, smallContents: SmallContentsTable): ReadContent {
  const select = database.prepare<[number], Buffer>('SELECT sha256 FROM resource WHERE id = ?').pluck()
  const contentDir = contentDirOf(database.name)
  const readPart = createPartReader()
  return (resourceId, offset, length) => {
    const small = smallContents.read(resourceId)
    if (small) return small.subarray(offset, offset + length)
    const sha256 = select.get(resourceId)
    return sha256 && readPart(contentPath(contentDir, sha256), { start: offset, end: offset + length - 1 })
  }
}
