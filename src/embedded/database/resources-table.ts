import type { Database } from 'better-sqlite3'
import type { IngestionStatus } from '../../contract/states.ts'

export interface ResourceRow {
  readonly id: number
  readonly publicId: string
  readonly libraryId: number
  readonly sha256: Buffer
  readonly mimeType: string
  /** The encoding that the sender of a text named; null if none was named. */
  readonly charset: string | null
  readonly sizeBytes: number
  readonly title: string
  readonly status: IngestionStatus
  /** JSON array of strings. */
  readonly warnings: string
  readonly failure: string | null
  readonly createdAtMs: number
  /** The MIME type of its passages. */
  readonly textType: 'text/plain' | 'text/markdown'
  /** JSON object of what ingestion found besides the text, such as `{"pages": 3}`. */
  readonly properties: string
  /** The MIME type of the video asset; null if there is none. */
  readonly videoType: string | null
}

/** The columns that ingestion writes when it ends. */
export type IngestedColumns = Pick<
  ResourceRow,
  'status' | 'warnings' | 'failure' | 'textType' | 'properties' | 'videoType'
>
export type IngestionResult = IngestedColumns & Pick<ResourceRow, 'id'>

export type NewResource = Omit<ResourceRow, 'id' | 'charset' | keyof IngestedColumns>

/** The position at which a content begins in a block that it shares with others. */
export interface BlockPosition {
  readonly blockId: number
  readonly blockStart: number
}

type NewBlockColumns = Record<keyof BlockPosition, number | null>

interface NewResourceExtras {
  readonly charset?: ResourceRow['charset'] | undefined
  readonly ingested?: IngestedColumns | undefined
  /** The position of the content, if it shares a block. */
  readonly block?: NewBlockColumns | undefined
}

const NO_BLOCK: NewBlockColumns = { blockId: null, blockStart: null }

/** The values that most resources have. Columns are null instead of holding them, to save space. */
const USUAL = { textType: 'text/plain', warnings: '[]', properties: '{}' } as const
const NOT_INGESTED: IngestedColumns = { ...USUAL, status: 'not_started', failure: null, videoType: null }
const USUAL_STATUS: IngestionStatus = 'completed'
const USUAL_MIME_TYPE = 'text/plain'

/** The identifier as the interface shows it. */
export const PUBLIC_ID = 'lower(hex(public_id))'
const IDENTIFIER = /^[0-9a-f]{32}$/
export const MIME_TYPE = `coalesce(mime_type, '${USUAL_MIME_TYPE}')`

const COLUMNS = `id, ${PUBLIC_ID} AS publicId, library_id AS libraryId, sha256, ${MIME_TYPE} AS mimeType, charset, size_bytes AS sizeBytes,
  title, coalesce(status, '${USUAL_STATUS}') AS status, failure, created_at_ms AS createdAtMs, video_type AS videoType,
  coalesce(text_type, '${USUAL.textType}') AS textType, coalesce(warnings, '${USUAL.warnings}') AS warnings,
  coalesce(properties, '${USUAL.properties}') AS properties`
const STATUS = `nullif(@status, '${USUAL_STATUS}')`
const NULL_IF_USUAL = `nullif(@textType, '${USUAL.textType}'), nullif(@warnings, '${USUAL.warnings}'),
  nullif(@properties, '${USUAL.properties}')`
/** Compares the first bytes of the hash as well, because the index holds only these. */
const OF_CONTENT = `FROM resource INDEXED BY resource_by_content
  WHERE substr(sha256, 1, 4) = substr(@sha256, 1, 4) AND sha256 = @sha256`

/** The condition that the library of a resource is not deleted. */
const IS_VISIBLE = 'library_id NOT IN (SELECT id FROM library WHERE is_deleted = 1)'

export function resourcesTable(database: Database) {
  const byPublicId = database.prepare<{ id: string }, ResourceRow>(
    `SELECT ${COLUMNS} FROM resource
     WHERE substr(public_id, 1, 8) = substr(unhex(@id), 1, 8) AND public_id = unhex(@id) AND ${IS_VISIBLE}`,
  )
  const byId = database.prepare<[number], ResourceRow>(`SELECT ${COLUMNS} FROM resource WHERE id = ? AND ${IS_VISIBLE}`)
  const byContent = database.prepare<Pick<ResourceRow, 'sha256' | 'libraryId' | 'mimeType'>, ResourceRow>(
    `SELECT ${COLUMNS} ${OF_CONTENT} AND library_id = @libraryId AND ${MIME_TYPE} = @mimeType`,
  )
  const toIngest = database.prepare<[number, number], ResourceRow>(
    `SELECT ${COLUMNS} FROM resource WHERE status IN ('not_started', 'running') AND ${IS_VISIBLE} AND id > ? ORDER BY id LIMIT ?`,
  )
  const after = database.prepare<[number, number], ResourceRow>(
    `SELECT ${COLUMNS} FROM resource WHERE id > ? ORDER BY id LIMIT ?`,
  )
  const usesContent = database.prepare<Pick<ResourceRow, 'sha256'>>(`SELECT 1 ${OF_CONTENT} LIMIT 1`)
  const insert = database.prepare<Omit<ResourceRow, 'id'> & NewBlockColumns>(
    `INSERT INTO resource (public_id, library_id, sha256, mime_type, charset, size_bytes, title, created_at_ms, status, failure,
       video_type, block_id, block_start, text_type, warnings, properties)
     VALUES (unhex(@publicId), @libraryId, @sha256, nullif(@mimeType, '${USUAL_MIME_TYPE}'), @charset, @sizeBytes, @title,
       @createdAtMs, ${STATUS}, @failure, @videoType, @blockId, @blockStart, ${NULL_IF_USUAL})`,
  )
  const start = database.prepare<[number]>("UPDATE resource SET status = 'running' WHERE id = ?")
  const recordFailure = database.prepare<[string, number]>('UPDATE resource SET failure = ? WHERE id = ?')
  const readAgain = database.prepare<[string]>(
    `UPDATE resource SET status = 'running'
     WHERE status IN ('completed_with_warnings', 'partial') AND coalesce(warnings, '') || coalesce(failure, '') LIKE ?`,
  )
  const finish = database.prepare<IngestionResult>(
    `UPDATE resource SET status = ${STATUS}, failure = @failure, video_type = @videoType,
       (text_type, warnings, properties) = (${NULL_IF_USUAL}) WHERE id = @id`,
  )
  return {
    byPublicId: (publicId: string) => (IDENTIFIER.test(publicId) ? byPublicId.get({ id: publicId }) : undefined),
    byId: (id: number) => byId.get(id),
    /** Returns the only resource of these bytes and this MIME type in the library. */
    byContent: (sha256: Buffer, libraryId: number, mimeType: string) => byContent.get({ sha256, libraryId, mimeType }),
    /** Returns the next resources after this row id whose ingestion has not ended; later uploads have greater ids. */
    toIngest: (afterId: number, count: number) => toIngest.all(afterId, count),
    /** Returns the next resources after this row id. */
    after: (afterId: number, count: number) => after.all(afterId, count),
    usesContent: (sha256: Buffer) => usesContent.get({ sha256 }) !== undefined,
    /** Inserts a resource and returns its row id. Without `ingested`, the resource still has to be ingested. */
    insert: (
      resource: NewResource,
      { charset = null, ingested = NOT_INGESTED, block = NO_BLOCK }: NewResourceExtras = {},
    ) => Number(insert.run({ ...resource, charset, ...ingested, ...block }).lastInsertRowid),
    /** Records that ingestion has begun; returns false if the resource does not exist any more. */
    start: (id: number) => start.run(id).changes > 0,
    /** Records why a resource has to be ingested again. */
    recordFailure: (id: number, failure: string) => recordFailure.run(failure, id).changes > 0,
    /** Has resources ingested again whose warnings or failure contain this text. */
    readAgain: (text: string) => {
      readAgain.run(`%${text}%`)
    },
    finish: (result: IngestionResult) => finish.run(result).changes > 0,
  }
}
