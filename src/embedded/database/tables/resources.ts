import type { Database } from 'better-sqlite3'
import type { IngestionStatus } from '../../../contract/states.ts'

export interface ResourceRow {
  readonly id: number
  readonly publicId: string
  readonly libraryId: number
  readonly sha256: Buffer
  readonly mimeType: string
  readonly sizeBytes: number
  readonly title: string
  readonly status: IngestionStatus
  /** JSON array of strings. */
  readonly warnings: string
  readonly failure: string | null
  readonly createdAtMs: number
  /** The MIME type of its passages. */
  readonly textType: 'text/plain' | 'text/markdown'
  /** JSON object of properties beside the text. */
  readonly properties: string
  /** The MIME type of its video asset; null without one. */
  readonly videoType: string | null
}

/** The columns that ingestion writes when it ends. */
export type IngestionResult = Pick<ResourceRow, 'id' | IngestedColumn>
type IngestedColumn = 'status' | 'warnings' | 'failure' | 'textType' | 'properties' | 'videoType'

export type NewResource = Omit<ResourceRow, 'id' | IngestedColumn>

const COLUMNS = `id, public_id AS publicId, library_id AS libraryId, sha256, mime_type AS mimeType, size_bytes AS sizeBytes,
  title, status, warnings, failure, created_at_ms AS createdAtMs, text_type AS textType, properties,
  video_type AS videoType`

/** Its library is not deleted. */
const IS_VISIBLE = 'library_id NOT IN (SELECT id FROM library WHERE is_deleted = 1)'

export type ResourcesTable = ReturnType<typeof resourcesTable>

export function resourcesTable(database: Database) {
  const byPublicId = database.prepare<[string], ResourceRow>(
    `SELECT ${COLUMNS} FROM resource WHERE public_id = ? AND ${IS_VISIBLE}`,
  )
  const byId = database.prepare<[number], ResourceRow>(`SELECT ${COLUMNS} FROM resource WHERE id = ? AND ${IS_VISIBLE}`)
  const byContent = database.prepare<[Buffer, number, string], ResourceRow>(
    `SELECT ${COLUMNS} FROM resource WHERE sha256 = ? AND library_id = ? AND mime_type = ?`,
  )
  const toIngest = database.prepare<[number, number], ResourceRow>(
    `SELECT ${COLUMNS} FROM resource WHERE status IN ('not_started', 'running') AND ${IS_VISIBLE} AND id > ? ORDER BY id LIMIT ?`,
  )
  const after = database.prepare<[number, number], ResourceRow>(
    `SELECT ${COLUMNS} FROM resource WHERE id > ? ORDER BY id LIMIT ?`,
  )
  const largeUpTo = database.prepare<[number, number, number], Pick<ResourceRow, 'id' | 'sha256'>>(
    'SELECT id, sha256 FROM resource WHERE id <= ? AND size_bytes > ? ORDER BY id DESC LIMIT ?',
  )
  const usesContent = database.prepare<[Buffer]>('SELECT 1 FROM resource WHERE sha256 = ? LIMIT 1')
  const insert = database.prepare<NewResource>(
    `INSERT INTO resource (public_id, library_id, sha256, mime_type, size_bytes, title, status, created_at_ms)
     VALUES (@publicId, @libraryId, @sha256, @mimeType, @sizeBytes, @title, 'not_started', @createdAtMs)`,
  )
  const start = database.prepare<[number]>("UPDATE resource SET status = 'running' WHERE id = ?")
  const recordFailure = database.prepare<[string, number]>('UPDATE resource SET failure = ? WHERE id = ?')
  const finish = database.prepare<IngestionResult>(
    `UPDATE resource SET status = @status, warnings = @warnings, failure = @failure, text_type = @textType,
       properties = @properties, video_type = @videoType WHERE id = @id`,
  )
  return {
    byPublicId: (publicId: string) => byPublicId.get(publicId),
    byId: (id: number) => byId.get(id),
    /** The resource of these bytes and this MIME type in the library: there is at most one (4.12). */
    byContent: (sha256: Buffer, libraryId: number, mimeType: string) => byContent.get(sha256, libraryId, mimeType),
    /** The oldest resources with a greater row id whose ingestion has not ended; later uploads have greater ids. */
    toIngest: (afterId: number, count: number) => toIngest.all(afterId, count),
    /** The oldest resources with a greater row id. */
    after: (afterId: number, count: number) => after.all(afterId, count),
    /** The newest resources of more than `sizeBytes` up to a row id. */
    largeUpTo: (id: number, sizeBytes: number, count: number) => largeUpTo.all(id, sizeBytes, count),
    usesContent: (sha256: Buffer) => usesContent.get(sha256) !== undefined,
    insert: (resource: NewResource) => Number(insert.run(resource).lastInsertRowid),
    /** False when the resource is gone. */
    start: (id: number) => start.run(id).changes > 0,
    /** Records why a resource has to be read again. */
    recordFailure: (id: number, failure: string) => recordFailure.run(failure, id).changes > 0,
    finish: (result: IngestionResult) => finish.run(result).changes > 0,
  }
}
