import type Database from 'better-sqlite3'
import { nameOf, parentOf } from '../../foundation/files/paths.ts'
import { NO_PROBLEM } from '../sql.ts'

export interface StoredResource {
  readonly contentId: number
  readonly resourceId: string
  readonly libraryId: string
  readonly sizeBytes: number
}

/** A resource whose content no file has any more, with its last file. Times are wall clock. */
export interface UnusedResource extends StoredResource {
  readonly mirrorId: number
  readonly root: string
  readonly path: string
  readonly reason: 'changed' | 'gone' | 'ignored'
  readonly endedAt: number
}

/** Clears what a content has recorded about its resource. */
const WITHOUT_RESOURCE = `resource_id = NULL, outcome = NULL, ingestion_status = NULL, ingestion_note = NULL, ingestion_seen_at = NULL,
  searchable_at = NULL, uploaded_at = NULL, is_duplicate = 0, second_location = 0`

type Named = Pick<StoredResource, 'contentId' | 'resourceId'>
interface Problem {
  readonly code: string
  readonly message: string
}

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
  const IS_RESOURCE = "id = @contentId AND resource_id = @resourceId AND state = 'stored'"
  const FORGET = `UPDATE content AS c SET state = 'new', ${WITHOUT_RESOURCE}, ${NO_PROBLEM} WHERE ${IS_RESOURCE}`
  const forget = database.prepare<Named>(FORGET)
  const release = database.prepare<Named>(`${FORGET} AND ${HAS_NO_FILE}`)
  const withhold = database.prepare<Named & Problem>(
    `UPDATE content SET state = 'refused', ${WITHOUT_RESOURCE}, problem_code = @code, problem_message = @message, problem_count = 1,
       retry_at = NULL, is_set_aside = 1 WHERE ${IS_RESOURCE}`,
  )
  const begin = database.prepare<Named>(
    'INSERT INTO removal (content_id, resource_id) VALUES (@contentId, @resourceId)',
  )
  const end = database.prepare<Named>('DELETE FROM removal WHERE content_id = @contentId AND resource_id = @resourceId')
  const begun = database.prepare<[string], StoredResource>(
    `SELECT r.content_id AS contentId, r.resource_id AS resourceId, l.remote_id AS libraryId, c.size AS sizeBytes
     FROM removal r JOIN content c ON c.id = r.content_id JOIN library l ON l.id = c.library_id WHERE l.origin = ?`,
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
  const begins = (changes: number, { contentId, resourceId }: Named) => {
    if (changes === 0) return false
    begin.run({ contentId, resourceId })
    reopen.run(contentId)
    return true
  }
  return {
    /** Lists unused resources of the service `origin` by the time when they lost their files, without those that others sent first. */
    list: (origin: string): UnusedResource[] => unused.all(origin),
    find: (origin: string, resourceId: string): StoredResource | undefined => byId.get({ origin, resourceId }),
    /** Lists the resource of a file, and its earlier resources that no other file has. */
    ofFile: (origin: string, mirrorId: number, path: string): StoredResource[] =>
      ofFile.all({ origin, mirrorId, path, directory: parentOf(path), name: nameOf(path) }),
    /** Lists resources whose removal was begun and not ended. */
    listBegun: (origin: string): StoredResource[] => begun.all(origin),
    /** Begins the removal: the resource no longer counts as stored. Returns false if a file has it, or the content has another resource. */
    release: (resource: Named): boolean => begins(release.run(resource).changes, resource),
    /** Like `release`, but also for a resource that a file has. The content is not sent again until a user asks for it. */
    withhold: (resource: Named, problem: Problem): boolean =>
      begins(withhold.run({ ...resource, ...problem }).changes, resource),
    /** Ends the removal: the resource is gone. A file that got it meanwhile is sent again. Returns false if no removal was begun. */
    forget: (resource: Named): boolean => {
      if (forget.run(resource).changes > 0) reopen.run(resource.contentId)
      return end.run(resource).changes > 0
    },
  }
}
