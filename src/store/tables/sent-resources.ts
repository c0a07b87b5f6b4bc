import type Database from 'better-sqlite3'
import { nameOf, parentOf } from '../../foundation/files/paths.ts'
import { FILE_PATH } from '../sql.ts'
import { IS_BELOW } from './directories.ts'

export interface MirrorPath {
  readonly mirror: string
  /** A directory or a file, relative to the mirror's root. */
  readonly path: string
}

interface RootedPath {
  readonly root: string
  readonly path: string
}

/** A content that the service stores, with its present and former files. */
export interface SentResource {
  readonly mime: string
  readonly size: number
  readonly uploadedAt: number | null
  /** Some of its files, the last changed first (wall clock). */
  readonly files: readonly (RootedPath & { readonly changedAt: number })[]
  /** The path from which it was sent, if no file with this content is there now. */
  readonly sentFrom: RootedPath | null
  /** The last file of a content that has none now. */
  readonly last: LastFile | null
  /** Older contents of the first file. */
  readonly earlier: EarlierVersions | null
}

interface LastFile extends RootedPath {
  readonly reason: 'changed' | 'gone' | 'ignored'
  /** Searches do not find the present content of the file yet, and of its earlier contents this is the newest that they find. */
  readonly isNewestFound: boolean
}

export interface EarlierVersions {
  readonly count: number
  /** When the newest of them was replaced. */
  readonly endedAt: number
}

type SentContent = Pick<SentResource, 'mime' | 'size' | 'uploadedAt'> & { readonly id: number }
type FoundFile = SentResource['files'][number] & { readonly mirrorId: number }
type FormerFile = RootedPath & { readonly mirrorId: number; readonly reason: LastFile['reason'] }

const MAX_FILES = 5
const CAN_BE_FOUND = "(c.outcome = 'searchable' OR c.outcome = 'partial')"

export function prepareSentResources(database: Database.Database) {
  const content = database.prepare<{ origin: string; resourceId: string }, SentContent>(
    `SELECT c.id, c.mime, c.size, c.uploaded_at AS uploadedAt
     FROM library l CROSS JOIN content c ON c.library_id = l.id AND c.resource_id = @resourceId WHERE l.origin = @origin`,
  )
  const ofContent = `SELECT m.id AS mirrorId, m.path AS root, ${FILE_PATH} AS path, f.mtime_ns / 1000000 AS changedAt
     FROM file f JOIN directory d ON d.id = f.directory_id JOIN mirror m ON m.id = d.mirror_id WHERE f.content_id = @id`
  const newestFirst = `ORDER BY f.mtime_ns DESC LIMIT ${MAX_FILES}`
  const files = database.prepare<{ id: number }, FoundFile>(`${ofContent} ${newestFirst}`)
  const filesIn = database.prepare<MirrorPath & { id: number; directory: string; name: string }, FoundFile>(
    `${ofContent} AND m.name = @mirror AND (d.path = @path OR ${IS_BELOW} OR (d.path = @directory AND f.name = @name))
     ${newestFirst}`,
  )
  const sentFrom = database.prepare<{ id: number }, RootedPath>(
    `SELECT root, path FROM (SELECT m.id, m.path AS root, u.path FROM upload u JOIN mirror m ON m.id = u.mirror_id
       WHERE u.content_id = @id AND (u.outcome = 'created' OR u.outcome = 'duplicate') ORDER BY u.id LIMIT 1) sent
     WHERE NOT EXISTS (SELECT 1 FROM file f JOIN directory d ON d.id = f.directory_id
       WHERE f.content_id = @id AND d.mirror_id = sent.id AND ${FILE_PATH} = sent.path)`,
  )
  const last = database.prepare<[number], FormerFile>(
    `SELECT m.id AS mirrorId, m.path AS root, h.path, h.reason FROM history h JOIN mirror m ON m.id = h.mirror_id
     WHERE h.content_id = ? ORDER BY h.ended_at DESC LIMIT 1`,
  )
  const isFound = database
    .prepare<{ mirrorId: number; directory: string; name: string }, number | null>(
      `SELECT ${CAN_BE_FOUND} FROM directory d JOIN file f ON f.directory_id = d.id AND f.name = @name
       JOIN content c ON c.id = f.content_id WHERE d.mirror_id = @mirrorId AND d.path = @directory`,
    )
    .pluck()
  const newest = database
    .prepare<{ mirrorId: number; path: string }, number>(
      `SELECT c.id FROM history h JOIN content c ON c.id = h.content_id
       WHERE h.mirror_id = @mirrorId AND h.path = @path AND ${CAN_BE_FOUND} ORDER BY h.ended_at DESC, c.id DESC LIMIT 1`,
    )
    .pluck()
  const earlier = database.prepare<
    { id: number; mirrorId: number; path: string },
    { count: number; endedAt: number | null }
  >(
    `SELECT count(*) AS count, max(h.ended_at) AS endedAt FROM history h JOIN content c ON c.id = h.content_id
     WHERE h.mirror_id = @mirrorId AND h.path = @path AND h.content_id <> @id AND h.reason = 'changed' AND c.state = 'stored'
       AND NOT EXISTS (SELECT 1 FROM file f WHERE f.content_id = c.id)`,
  )
  const processing = database.prepare<[string], { libraryId: string; contents: number }>(
    `SELECT l.remote_id AS libraryId, count(*) AS contents FROM library l CROSS JOIN content c ON c.library_id = l.id
     WHERE l.origin = ? AND c.outcome = 'pending' AND EXISTS (SELECT 1 FROM file f WHERE f.content_id = c.id) GROUP BY l.id`,
  )
  const readLast = (id: number): LastFile | null => {
    const found = last.get(id)
    if (!found) return null
    const { mirrorId, path, reason } = found
    const isPresentFound = isFound.get({ mirrorId, directory: parentOf(path), name: nameOf(path) })
    const isWaiting = reason === 'changed' && (isPresentFound === 0 || isPresentFound === null)
    return { root: found.root, path, reason, isNewestFound: isWaiting && newest.get({ mirrorId, path }) === id }
  }
  const readEarlier = (id: number, { mirrorId, path }: FoundFile): EarlierVersions | null => {
    const { count = 0, endedAt = null } = earlier.get({ id, mirrorId, path }) ?? {}
    return endedAt === null ? null : { count, endedAt }
  }
  return {
    /** Returns undefined for a resource that no mirror sent to the service `origin`. With a `place`, only files in it count. */
    find: (origin: string, resourceId: string, place: MirrorPath | null): SentResource | undefined => {
      const found = content.get({ origin, resourceId })
      if (!found) return undefined
      const { id, ...sent } = found
      const present = place
        ? filesIn.all({ id, ...place, directory: parentOf(place.path), name: nameOf(place.path) })
        : files.all({ id })
      const [first] = present
      return {
        ...sent,
        files: present.map(({ root, path, changedAt }) => ({ root, path, changedAt })),
        sentFrom: sentFrom.get({ id }) ?? null,
        last: first ? null : readLast(id),
        earlier: first ? readEarlier(id, first) : null,
      }
    },
    /** Counts contents of present files that searches may not find yet; `libraryIds`: only in these libraries, or in all if empty. */
    countProcessing: (origin: string, libraryIds: readonly string[]): number =>
      processing
        .all(origin)
        .filter(({ libraryId }) => libraryIds.length === 0 || libraryIds.includes(libraryId))
        .reduce((sum, { contents }) => sum + contents, 0),
  }
}
