import type { Database } from 'better-sqlite3'
import { INBOX_PATH } from '../../contract/routes.ts'
import { PUBLIC_ID } from './resources-table.ts'

/** Resources that were uploaded under the same title into the same directory are versions of one document. */
export interface Versions {
  /** The row id of the newest version; undefined for a resource that is the newest in one of its places. */
  successorOf(resourceId: number): number | undefined
  /** The identifier of that version. */
  successorIdOf(resourceId: number): string | null
  /** The older versions in the places of a resource; null without any. */
  earlierOf(resourceId: number): { readonly count: number; readonly createdAtMs: number } | null
}

/** The inbox gets uploads without a directory, where equal titles say nothing. */
const PLACES = `SELECT own.directory_id, coalesce(nullif(own.title, ''), own.filename) AS title
  FROM location own CROSS JOIN directory ON directory.id = own.directory_id
  WHERE own.resource_id = @id AND directory.path <> '${INBOX_PATH}'`
/** A location whose title is its filename has an empty title. */
const NEWEST = `max(
  coalesce((SELECT max(resource_id) FROM location WHERE title <> '' AND title = place.title AND directory_id = place.directory_id), 0),
  coalesce((SELECT resource_id FROM location WHERE title = '' AND filename = place.title AND directory_id = place.directory_id), 0))`

export function versionsTable(database: Database): Versions {
  const newest = database.prepare<{ id: number }, number | null>(`SELECT min(${NEWEST}) FROM (${PLACES}) place`).pluck()
  const publicId = database.prepare<[number], string>(`SELECT ${PUBLIC_ID} FROM resource WHERE id = ?`).pluck()
  const earlier = database.prepare<{ id: number }, { count: number; createdAtMs: number | null }>(
    `WITH place AS MATERIALIZED (${PLACES}), version (id) AS (
       SELECT other.resource_id FROM place CROSS JOIN location other
       WHERE other.title <> '' AND other.title = place.title AND other.directory_id = place.directory_id
       UNION SELECT other.resource_id FROM place CROSS JOIN location other
       WHERE other.title = '' AND other.filename = place.title AND other.directory_id = place.directory_id)
     SELECT count(*) AS count, max(created_at_ms) AS createdAtMs FROM version CROSS JOIN resource USING (id) WHERE id < @id`,
  )
  const successorOf = (id: number) => {
    const found = newest.get({ id }) ?? id
    return found > id ? found : undefined
  }
  return {
    successorOf,
    successorIdOf: (id) => publicId.get(successorOf(id) ?? 0) ?? null,
    earlierOf: (id) => {
      const { count = 0, createdAtMs } = earlier.get({ id }) ?? {}
      return createdAtMs == null ? null : { count, createdAtMs }
    },
  }
}
