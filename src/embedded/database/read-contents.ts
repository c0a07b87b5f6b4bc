import { dirname, join } from 'node:path'
import type { Database } from 'better-sqlite3'
import { createPartReader } from '../contents/read-part.ts'
import type { SmallContentsTable } from './small-contents-table.ts'

/** The directory of the larger contents of a database. */
export function contentDirOf(databaseFile: string): string {
  return join(dirname(databaseFile), 'files')
}

/** Returns the path of a larger content: `files/ab/<sha256>`, or with `.zst` where it is compressed. */
export function contentPath(contentDir: string, sha256: Buffer): string {
  const hex = sha256.toString('hex')
  return join(contentDir, hex.slice(0, 2), hex)
}

/** Reads a part of the content of a resource, less of it beyond its end; undefined when it is gone. Throws DamagedBytesError. */
export type ReadContent = (resourceId: number, offset: number, length: number) => Buffer | undefined

/** Reads parts of the contents in a database, and of the larger ones beside it, fastest one after the other. */
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
