import type { Database } from 'better-sqlite3'
import { INBOX_PATH } from '../../contract/routes.ts'
import { PUBLIC_ID } from './resources-table.ts'

/** Selects the directory and title of each location of a resource, except in the inbox, where equal titles mean nothing. */
const TITLES = `SELECT own.directory_id, coalesce(nullif(own.title, ''), own.filename) AS title
  FROM location own CROSS JOIN directory ON directory.id = own.directory_id
  WHERE own.resource_id = @id AND directory.path <> '${INBOX_PATH}'`
/** Selects the newest resource at a location. If a title equals the filename, the column `title` is empty. */
const NEWEST = `max(
  coalesce((SELECT max(resource_id) FROM location WHERE title <> '' AND title = place.title AND directory_id = place.directory_id), 0),
  coalesce((SELECT resource_id FROM location WHERE title = '' AND filename = place.title AND directory_id = place.directory_id), 0))`

/** Prepares the queries of versions: resources that were uploaded with the same title into the same directory. */
export function versionsTable(database: Database) {
  const newest = database.prepare<{ id: number }, number | null>(`SELECT min(${NEWEST}) FROM (${TITLES}) place`).pluck()
  const publicId = database.prepare<[number], string>(`SELECT ${PUBLIC_ID} FROM resource WHERE id = ?`).pluck()
  const earlier = database.prepare<{ id: number }, { count: number; createdAtMs: number | null }>(
    `WITH place AS MATERIALIZED (${TITLES}), version (id) AS (
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
    /** Returns the row id of the newest version, undefined for a resource that is the newest one at any of its locations. */
    successorOf,
    /** Returns the identifier of the newest version, null where `successorOf` returns undefined. */
    successorIdOf: (id: number) => publicId.get(successorOf(id) ?? 0) ?? null,
    /** Returns how many older versions a resource has, and when the newest of them was created; null if there are none. */
    earlierOf: (id: number) => {
      const { count = 0, createdAtMs } = earlier.get({ id }) ?? {}
      return createdAtMs == null ? null : { count, createdAtMs }
    },
  }
}
