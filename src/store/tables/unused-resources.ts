import type Database from 'better-sqlite3'
import { nameOf, parentOf } from '../../foundation/files/paths.ts'
import { NO_PROBLEM } from '../sql.ts'

export interface StoredResource {
  readonly contentId: number
  readonly resourceId: string
  /** The identifier of its library at the service. */
  readonly libraryId: string
  readonly sizeBytes: number
}

/** A resource for which no file stands any more, with its last file. Times are wall clock. */
export interface UnusedResource extends StoredResource {
  readonly mirrorId: number
  /** The directory of the mirror of `path`. */
  readonly root: string
  readonly path: string
  readonly reason: 'changed' | 'gone' | 'ignored'
  readonly endedAt: number
}

/** What is removed from a library: its resource and all that is known of it. */
const WITHOUT_RESOURCE = `resource_id = NULL, outcome = NULL, ingestion_status = NULL, ingestion_note = NULL, ingestion_seen_at = NULL,
  searchable_at = NULL, uploaded_at = NULL, is_duplicate = 0, second_location = 0`

const COLUMNS = 'c.id AS contentId, c.resource_id AS resourceId, l.remote_id AS libraryId, c.size AS sizeBytes'
const HAS_NO_FILE = 'NOT EXISTS (SELECT 1 FROM file f WHERE f.content_id = c.id)'

export function prepareUnusedResources(database: Database.Database) {
  // SQLite takes the other columns of h from the row of max(h.ended_at).
  const unused = database.prepare<[string], UnusedResource>(
    `SELECT ${COLUMNS}, h.mirror_id AS mirrorId, m.path AS root, h.path, h.reason, max(h.ended_at) AS endedAt
     FROM library l JOIN content c ON c.library_id = l.id JOIN history h ON h.content_id = c.id JOIN mirror m ON m.id = h.mirror_id
     WHERE l.origin = ? AND c.state = 'stored' AND c.is_duplicate = 0 AND ${HAS_NO_FILE}
     GROUP BY c.id ORDER BY endedAt, c.id`,
  )
  const FORGET = `UPDATE content AS c SET state = 'new', ${WITHOUT_RESOURCE}, ${NO_PROBLEM} WHERE id = ? AND state = 'stored'`
  const forget = database.prepare<[number]>(FORGET)
  const forgetUnused = database.prepare<[number]>(`${FORGET} AND ${HAS_NO_FILE}`)
  const withhold = database.prepare<[string, string, number]>(
    `UPDATE content SET state = 'refused', ${WITHOUT_RESOURCE}, problem_code = ?, problem_message = ?, problem_count = 1, retry_at = NULL,
       is_set_aside = 1 WHERE id = ? AND state = 'stored'`,
  )
  const byId = database.prepare<{ origin: string; resourceId: string }, StoredResource>(
    `SELECT ${COLUMNS} FROM library l JOIN content c ON c.library_id = l.id AND c.resource_id = @resourceId WHERE l.origin = @origin`,
  )
  const ofFile = database.prepare<
    { origin: string; mirrorId: number; directory: string; name: string; path: string },
    StoredResource
  >(
    `SELECT ${COLUMNS} FROM library l JOIN content c ON c.library_id = l.id WHERE l.origin = @origin AND c.state = 'stored' AND (
       c.id = (SELECT f.content_id FROM directory d JOIN file f ON f.directory_id = d.id AND f.name = @name
         WHERE d.mirror_id = @mirrorId AND d.path = @directory)
       OR c.id IN (SELECT content_id FROM history WHERE mirror_id = @mirrorId AND path = @path) AND ${HAS_NO_FILE})`,
  )
  const reopen = database.prepare<[number]>('UPDATE file SET is_received = 0 WHERE content_id = ?')
  const change = (changes: number, contentId: number) => {
    if (changes > 0) reopen.run(contentId)
    return changes > 0
  }
  return {
    /** Of the service `origin`, the ones that were first without a file first. Not what was there before an upload of this state. */
    list: (origin: string): UnusedResource[] => unused.all(origin),
    find: (origin: string, resourceId: string): StoredResource | undefined => byId.get({ origin, resourceId }),
    /** The one of a file, and its earlier ones that no other file has. */
    ofFile: (origin: string, mirrorId: number, path: string): StoredResource[] =>
      ofFile.all({ origin, mirrorId, path, directory: parentOf(path), name: nameOf(path) }),
    /** The resource will be removed. False when it is not stored or a file has it meanwhile. */
    forgetUnused: (contentId: number): boolean => forgetUnused.run(contentId).changes > 0,
    /** The resource was removed: a file with this content is sent again. False when it is not stored. */
    forget: (contentId: number): boolean => change(forget.run(contentId).changes, contentId),
    /** The resource was removed, and the content is not sent again before somebody asks for it. False when it is not stored. */
    withhold: (contentId: number, problem: { readonly code: string; readonly message: string }): boolean =>
      change(withhold.run(problem.code, problem.message, contentId).changes, contentId),
  }
}
