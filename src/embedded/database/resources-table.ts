import type { Database } from 'better-sqlite3'
import type { IngestionStatus } from '../../contract/states.ts'

export interface ResourceRow {
  readonly id: number
  readonly publicId: string
  readonly libraryId: number
  readonly sha256: Buffer
  readonly mimeType: string
  /** The encoding that its sender named. */
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
  /** JSON object of properties beside the text. */
  readonly properties: string
  /** The MIME type of its video asset; null without one. */
  readonly videoType: string | null
}

/** The columns that ingestion writes when it ends. */
export type IngestedColumns = Pick<
  ResourceRow,
  'status' | 'warnings' | 'failure' | 'textType' | 'properties' | 'videoType'
>
export type IngestionResult = IngestedColumns & Pick<ResourceRow, 'id'>

export type NewResource = Omit<ResourceRow, 'id' | 'charset' | keyof IngestedColumns>

/** The place at which a content begins in a block of several. */
export interface BlockPlace {
  readonly blockId: number
  readonly blockStart: number
}

type NewBlockColumns = Record<keyof BlockPlace, number | null>

interface NewResourceExtras {
  readonly charset?: ResourceRow['charset'] | undefined
  readonly ingested?: IngestedColumns | undefined
  /** The place of its content, if it shares a block. */
  readonly block?: NewBlockColumns | undefined
}

const NO_BLOCK: NewBlockColumns = { blockId: null, blockStart: null }

/** The values that most resources have; they are not stored. */
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
/** The columns that are null where they have the usual value. */
const UNUSUAL = `nullif(@textType, '${USUAL.textType}'), nullif(@warnings, '${USUAL.warnings}'),
  nullif(@properties, '${USUAL.properties}')`
/** Its index holds the beginnings of hashes only. */
const OF_CONTENT = `FROM resource INDEXED BY resource_by_content
  WHERE substr(sha256, 1, 4) = substr(@sha256, 1, 4) AND sha256 = @sha256`

/** Its library is not deleted. */
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
       @createdAtMs, ${STATUS}, @failure, @videoType, @blockId, @blockStart, ${UNUSUAL})`,
  )
  const start = database.prepare<[number]>("UPDATE resource SET status = 'running' WHERE id = ?")
  const recordFailure = database.prepare<[string, number]>('UPDATE resource SET failure = ? WHERE id = ?')
  const readAgain = database.prepare<[string]>(
    `UPDATE resource SET status = 'running'
     WHERE status IN ('completed_with_warnings', 'partial') AND coalesce(warnings, '') || coalesce(failure, '') LIKE ?`,
  )
  const finish = database.prepare<IngestionResult>(
    `UPDATE resource SET status = ${STATUS}, failure = @failure, video_type = @videoType,
       (text_type, warnings, properties) = (${UNUSUAL}) WHERE id = @id`,
  )
  return {
    byPublicId: (publicId: string) => (IDENTIFIER.test(publicId) ? byPublicId.get({ id: publicId }) : undefined),
    byId: (id: number) => byId.get(id),
    /** The resource of these bytes and this MIME type in the library: there is at most one. */
    byContent: (sha256: Buffer, libraryId: number, mimeType: string) => byContent.get({ sha256, libraryId, mimeType }),
    /** The oldest resources with a greater row id whose ingestion has not ended; later uploads have greater ids. */
    toIngest: (afterId: number, count: number) => toIngest.all(afterId, count),
    /** The oldest resources with a greater row id. */
    after: (afterId: number, count: number) => after.all(afterId, count),
    usesContent: (sha256: Buffer) => usesContent.get({ sha256 }) !== undefined,
    /** Returns its row id. Without what ingestion found, it is still to be ingested. */
    insert: (
      resource: NewResource,
      { charset = null, ingested = NOT_INGESTED, block = NO_BLOCK }: NewResourceExtras = {},
    ) => Number(insert.run({ ...resource, charset, ...ingested, ...block }).lastInsertRowid),
    /** False when the resource is gone. */
    start: (id: number) => start.run(id).changes > 0,
    /** Records why a resource has to be read again. */
    recordFailure: (id: number, failure: string) => recordFailure.run(failure, id).changes > 0,
    /** Has the files read again that have this text in a warning or as the reason why they were read in part. */
    readAgain: (text: string) => {
      readAgain.run(`%${text}%`)
    },
    finish: (result: IngestionResult) => finish.run(result).changes > 0,
  }
}
