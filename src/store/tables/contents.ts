import type Database from 'better-sqlite3'
import type { IngestionOutcome } from '../../contract/states.ts'
import type { ContentState } from '../../rules/decide-upload.ts'
import { FILE_PATH, HAS_FILE, NO_PROBLEM, onlyRow } from '../sql.ts'
import { prepareIngestion } from './ingestion.ts'
import type { MirrorKey } from './mirrors.ts'

export interface ContentRow {
  readonly id: number
  readonly libraryId: number
  readonly sha256: Buffer
  readonly mime: string
  readonly size: number
  readonly state: ContentState
  readonly resourceId: string | null
  readonly isDuplicate: number
  readonly secondLocation: number
  readonly doubts: number
  readonly uploadedAt: number | null
  readonly searchableAt: number | null
  readonly outcome: IngestionOutcome | null
  readonly ingestionStatus: string | null
  /** The service's error, WITHOUT_TEXT or warnings (remarkOf); null without a remark. */
  readonly ingestionNote: string | null
  /** When the service last reported the status; null before its first answer. */
  readonly ingestionSeenAt: number | null
  readonly problemCode: string | null
  readonly problemMessage: string | null
  readonly failedTries: number
  readonly retryAt: number | null
  readonly isSetAside: number
  /** The host of a fleet that sent it; null: this one. */
  readonly host: string | null
}

export interface CodeCount {
  readonly code: string
  readonly count: number
}

export type UploadState = Pick<ContentRow, 'state' | 'doubts' | 'failedTries' | 'retryAt' | 'isSetAside'>

export interface ContentKey {
  readonly libraryId: number
  readonly sha256: Uint8Array
  readonly mime: string
  readonly size: number
}

export interface DoubtfulContent
  extends Pick<ContentRow, 'id' | 'sha256' | 'mime' | 'size' | 'doubts' | 'retryAt' | 'isSetAside'> {
  readonly path: string
  readonly uploadId: number
}

export interface StoredContent {
  readonly resourceId: string
  readonly isDuplicate: boolean
  readonly hasSecondLocation: boolean
  readonly mirrorId: number
  readonly runId: number
  readonly nowMs: number
  /** The host of a fleet that sent it; undefined: this one. */
  readonly host?: string
}

export interface ContentProblem {
  readonly code: string
  readonly message: string
  readonly retryAt: number | null
}

/** A content that needs attention, with the first of its paths in the mirror. */
export type TroubledContent = ContentRow & { readonly path: string }

export const CONTENT_COLUMNS = `
  c.id, c.library_id AS libraryId, c.sha256, c.mime, c.size, c.state, c.resource_id AS resourceId,
  c.is_duplicate AS isDuplicate, c.second_location AS secondLocation, c.doubts, c.uploaded_at AS uploadedAt,
  c.searchable_at AS searchableAt, c.outcome, c.ingestion_status AS ingestionStatus,
  c.ingestion_note AS ingestionNote, c.ingestion_seen_at AS ingestionSeenAt, c.problem_code AS problemCode,
  c.problem_message AS problemMessage, c.problem_count AS failedTries, c.retry_at AS retryAt,
  c.is_set_aside AS isSetAside, c.host`

/** A query must repeat the condition of the index `content_troubled` to use it. */
const IS_TROUBLED = "(c.problem_code IS NOT NULL OR c.state = 'sending' OR c.state = 'doubt')"

export function prepareContents(database: Database.Database) {
  const listeners = new Set<() => void>()
  const announce = () => listeners.forEach((listener) => void listener())
  return {
    ...prepareSending(database, announce),
    ...prepareIngestion(database, announce),
    ...prepareProblems(database),
    /** Calls `listener` inside each write that may add rows to `listPending`. */
    onNewlyPending: (listener: () => void): Disposable => {
      listeners.add(listener)
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
  }
}

function prepareSending(database: Database.Database, announceNewlyPending: () => void) {
  const find = database.prepare<Omit<ContentKey, 'size'>, ContentRow>(
    `SELECT ${CONTENT_COLUMNS} FROM content c
     WHERE substr(c.sha256, 1, 8) = substr(@sha256, 1, 8) AND c.sha256 = @sha256 AND c.mime = @mime AND c.library_id = @libraryId`,
  )
  const uploadState = database.prepare<[number], UploadState>(
    `SELECT state, doubts, problem_count AS failedTries, retry_at AS retryAt, is_set_aside AS isSetAside
     FROM content WHERE id = ?`,
  )
  const get = database.prepare<[number], ContentRow>(`SELECT ${CONTENT_COLUMNS} FROM content c WHERE c.id = ?`)
  const byResource = database.prepare<[number, string], ContentRow>(
    `SELECT ${CONTENT_COLUMNS} FROM content c WHERE c.library_id = ? AND c.resource_id = ?`,
  )
  const setState = database.prepare<[ContentState, number]>('UPDATE content SET state = ? WHERE id = ?')
  const markCutOffInDoubt = database.prepare<[]>(
    `UPDATE content INDEXED BY content_in_doubt SET state = 'doubt', doubts = doubts + 1
     WHERE (state = 'sending' OR state = 'doubt') AND state = 'sending'`,
  )
  const sending = database.prepare<[], { id: number }>(
    "SELECT id FROM content INDEXED BY content_in_doubt WHERE (state = 'sending' OR state = 'doubt') AND state = 'sending'",
  )
  const addDoubt = database.prepare<[number]>("UPDATE content SET state = 'doubt', doubts = doubts + 1 WHERE id = ?")
  const refuse = database.prepare<[string, string, number | null, number]>(
    `UPDATE content SET state = 'refused', problem_code = ?, problem_message = ?, retry_at = ?,
       problem_count = problem_count + 1 WHERE id = ?`,
  )
  const maxSeq = database.prepare<[], { seq: number }>('SELECT coalesce(max(stored_seq), 0) AS seq FROM content')
  const store = database.prepare<[string, number, number, number, number, number, number, string | null, number]>(
    `UPDATE content SET state = 'stored', resource_id = ?, is_duplicate = ?, second_location = ?, uploaded_at = ?,
       stored_seq = ?, mirror_id = ?, run_id = ?, host = ?, outcome = 'pending', searchable_at = NULL, ${NO_PROBLEM} WHERE id = ?`,
  )
  // SQLite takes u.path from the row of max(u.id), the latest upload.
  const doubtful = database.prepare<[number, number, number], DoubtfulContent>(
    `SELECT c.id, c.sha256, c.mime, c.size, c.doubts, c.retry_at AS retryAt, c.is_set_aside AS isSetAside, u.path,
       max(u.id) AS uploadId
     FROM content c INDEXED BY content_in_doubt JOIN upload u ON u.content_id = c.id
     WHERE c.library_id = ? AND (u.mirror_id = ? OR ${HAS_FILE}) AND (c.state = 'sending' OR c.state = 'doubt')
     GROUP BY c.id ORDER BY u.path`,
  )
  const toSend = database.prepare<[number], { n: number; bytes: number }>(
    `SELECT count(*) AS n, coalesce(sum(size), 0) AS bytes FROM content WHERE id IN (
       SELECT c.id FROM file f INDEXED BY file_open JOIN directory d ON d.id = f.directory_id
       JOIN content c ON c.id = f.content_id
       WHERE f.is_received = 0 AND d.mirror_id = ? AND c.state = 'new')`,
  )
  const ifNew = database.prepare<[number], { contents: number; bytes: number; copies: number; areNew: number }>(
    `SELECT count(*) AS contents, coalesce(sum(size), 0) AS bytes, coalesce(sum(copies), 0) AS copies,
       coalesce(min(state = 'new'), 1) AS areNew
     FROM (SELECT c.size, c.state, (SELECT count(*) FROM file WHERE content_id = c.id) AS copies
       FROM directory d JOIN file f ON f.directory_id = d.id AND f.is_received = 0 JOIN content c ON c.id = f.content_id
       WHERE d.mirror_id = ? GROUP BY c.id)`,
  )
  let nextSeq: number | undefined
  return {
    get: (id: number): ContentRow | undefined => get.get(id),
    /** Only the columns that decide about an upload, because the planner reads them for every file. */
    getUploadState: (id: number): UploadState => onlyRow(uploadState.get(id)),
    findByResource: (libraryId: number, resourceId: string): ContentRow | undefined =>
      byResource.get(libraryId, resourceId),
    find: ({ libraryId, sha256, mime }: ContentKey): ContentRow | undefined => find.get({ libraryId, sha256, mime }),
    setState: (id: number, state: 'new' | 'sending') => void setState.run(state, id),
    listSending: (): number[] => sending.all().map(({ id }) => id),
    markInDoubt: (id: number) => void addDoubt.run(id),
    /** Marks the uploads as in doubt that the last holder of the store left in flight. */
    markCutOffInDoubt: () => void markCutOffInDoubt.run(),
    markRefused: (id: number, problem: ContentProblem) =>
      void refuse.run(problem.code, problem.message, problem.retryAt, id),
    /** Records the resource id, which the store forgets only if a person has the resource removed (P13, receipts are kept). */
    markStored: (id: number, stored: StoredContent): void => {
      nextSeq ??= onlyRow(maxSeq.get()).seq + 1
      const { resourceId, isDuplicate, hasSecondLocation, mirrorId, runId, nowMs, host = null } = stored
      store.run(resourceId, Number(isDuplicate), Number(hasSecondLocation), nowMs, nextSeq, mirrorId, runId, host, id)
      nextSeq += 1
      announceNewlyPending()
    },
    /** Lists contents in doubt or in flight that this mirror uploaded, or of which it has a file. */
    listDoubtful: ({ id, library }: MirrorKey): DoubtfulContent[] => doubtful.all(library.id, id, id),
    /** Counts the contents of open files; undefined unless all of them are new. */
    tallyIfNew: (mirrorId: number): { contents: number; bytes: number; copies: number } | undefined => {
      const { areNew, ...tally } = onlyRow(ifNew.get(mirrorId))
      return areNew === 1 ? tally : undefined
    },
    countToSend: (mirrorId: number): { n: number; bytes: number } => onlyRow(toSend.get(mirrorId)),
  }
}

function prepareProblems(database: Database.Database) {
  const setProblem = database.prepare<[string, string, number | null, number]>(
    `UPDATE content SET problem_code = ?, problem_message = ?, retry_at = ?, problem_count = problem_count + 1
     WHERE id = ?`,
  )
  const clearProblem = database.prepare<[number]>(`UPDATE content SET ${NO_PROBLEM} WHERE id = ?`)
  const troubled = database.prepare<[number, number], TroubledContent>(
    `SELECT ${CONTENT_COLUMNS}, min(${FILE_PATH}) AS path
     FROM content c INDEXED BY content_troubled
     JOIN file f ON f.content_id = c.id JOIN directory d ON d.id = f.directory_id AND d.mirror_id = ?
     WHERE c.library_id = ? AND ${IS_TROUBLED} AND c.is_set_aside = 0 GROUP BY c.id ORDER BY path LIMIT 10000`,
  )
  const troubledCounts = database.prepare<[number, number], CodeCount>(
    `SELECT c.problem_code AS code, count(*) AS count FROM content c INDEXED BY content_troubled
     WHERE c.library_id = ? AND ${IS_TROUBLED} AND c.problem_code IS NOT NULL AND c.is_set_aside = 0 AND ${HAS_FILE}
     GROUP BY 1`,
  )
  const nextRetry = database.prepare<[number, number], { at: number | null }>(
    `SELECT min(c.retry_at) AS at FROM content c INDEXED BY content_troubled
     WHERE c.library_id = ? AND c.state IN ('refused', 'doubt') AND c.is_set_aside = 0 AND c.retry_at IS NOT NULL
       AND ${IS_TROUBLED} AND ${HAS_FILE}`,
  )
  return {
    setProblem: (id: number, problem: ContentProblem | null) =>
      void (problem ? setProblem.run(problem.code, problem.message, problem.retryAt, id) : clearProblem.run(id)),
    /** Lists contents that need attention and are not set aside; at most 10,000. */
    listTroubled: (mirrorId: number, libraryId: number): TroubledContent[] => troubled.all(mirrorId, libraryId),
    /** Counts contents with a problem that are not set aside, by code. */
    countTroubled: (mirrorId: number, libraryId: number): CodeCount[] => troubledCounts.all(libraryId, mirrorId),
    /** Wall clock; null without a failed upload. */
    nextRetryAt: ({ id, library }: MirrorKey): number | null => nextRetry.get(library.id, id)?.at ?? null,
  }
}
