import type Database from 'better-sqlite3'
import type { IngestionOutcome } from '../../contract/states.ts'
import type { ContentState } from '../../rules/decide-upload.ts'
import { quarantineEnds } from '../../rules/retry-delay.ts'
import { WITHOUT_TEXT } from '../../rules/without-text.ts'
import { FILE_PATH, onlyRow, quoted } from '../sql.ts'
import type { CodeCount } from './problems.ts'

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
  /** The service's remark beside the status (remarkOf): its error, WITHOUT_TEXT or its warnings; null without one. */
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

export type UploadState = Pick<ContentRow, 'state' | 'doubts' | 'failedTries' | 'retryAt' | 'isSetAside' | 'host'>

export interface ContentKey {
  readonly libraryId: number
  readonly sha256: Uint8Array
  readonly mime: string
  readonly size: number
}

/** A content whose last upload was cut off or left in doubt, with the path it was uploaded from. */
export interface DoubtfulContent
  extends Pick<ContentRow, 'id' | 'sha256' | 'mime' | 'size' | 'doubts' | 'retryAt' | 'isSetAside'> {
  /** Relative to the root of the mirror that uploaded it. */
  readonly path: string
  readonly uploadId: number
}

/** The row ids of a mirror and its library. */
export type MirrorKey = Readonly<{ id: number; library: Readonly<{ id: number }> }>

export interface PendingResource extends Pick<ContentRow, 'host'> {
  readonly contentId: number
  readonly resourceId: string
  readonly storedSeq: number
  readonly uploadedAt: number
  readonly searchableAt: number | null
  readonly hasProblem: number
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

/** The service's answer about a resource, as the store records it. */
export interface SeenIngestion {
  readonly status: string | null
  readonly outcome: IngestionOutcome
  readonly searchableAt: number | null
  readonly note: string | null
  readonly seenAt: number
}

export interface IngestionTally {
  readonly outcome: IngestionOutcome
  readonly status: string | null
  /** The MIME type of contents stored without searchable text; null for all others. */
  readonly mimeWithoutText: string | null
  /** One of the warnings about searchable text; null without any. */
  readonly warning: string | null
  readonly n: number
  /** The mirror's files that have these contents. */
  readonly files: number
}

/** A content that needs attention, with the first of its paths in the mirror. */
export type TroubledContent = ContentRow & { readonly path: string }

/** A text document that became searchable in a run, with the first of its paths in the mirror. */
export interface SearchableText {
  readonly sha256: Buffer
  readonly size: number
  readonly resourceId: string
  readonly path: string
}

export const CONTENT_COLUMNS = `
  c.id, c.library_id AS libraryId, c.sha256, c.mime, c.size, c.state, c.resource_id AS resourceId,
  c.is_duplicate AS isDuplicate, c.second_location AS secondLocation, c.doubts, c.uploaded_at AS uploadedAt,
  c.searchable_at AS searchableAt, c.outcome, c.ingestion_status AS ingestionStatus,
  c.ingestion_note AS ingestionNote, c.ingestion_seen_at AS ingestionSeenAt, c.problem_code AS problemCode,
  c.problem_message AS problemMessage, c.problem_count AS failedTries, c.retry_at AS retryAt,
  c.is_set_aside AS isSetAside, c.host`

/** The condition of the index `content_troubled`, which a query must repeat to use it. */
const IS_TROUBLED = "(c.problem_code IS NOT NULL OR c.state = 'sending' OR c.state = 'doubt')"

/** The mirror `?` has a file of the content `c`. */
const HAS_FILE = `EXISTS
    (SELECT 1 FROM file f JOIN directory d ON d.id = f.directory_id WHERE f.content_id = c.id AND d.mirror_id = ?)`

const PENDING_COLUMNS = `id AS contentId, resource_id AS resourceId, stored_seq AS storedSeq, uploaded_at AS uploadedAt,
       searchable_at AS searchableAt, problem_code IS NOT NULL AS hasProblem, host`

const NO_PROBLEM = 'problem_code = NULL, problem_message = NULL, retry_at = NULL, problem_count = 0'

/** Queries on contents: each is uploaded once to its library (product: "new content"). */
export function prepareContents(database: Database.Database) {
  const listeners = new Set<() => void>()
  const announce = () => listeners.forEach((listener) => void listener())
  return {
    ...prepareSending(database, announce),
    ...prepareIngestion(database, announce),
    /** Calls `listener` inside each write after which `listPending` may have new rows, until the result is disposed. */
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
    `SELECT state, doubts, problem_count AS failedTries, retry_at AS retryAt, is_set_aside AS isSetAside, host
     FROM content WHERE id = ?`,
  )
  const get = database.prepare<[number], ContentRow>(`SELECT ${CONTENT_COLUMNS} FROM content c WHERE c.id = ?`)
  const byResource = database.prepare<[number, string], ContentRow>(
    `SELECT ${CONTENT_COLUMNS} FROM content c WHERE c.library_id = ? AND c.resource_id = ?`,
  )
  const setState = database.prepare<[ContentState, number]>('UPDATE content SET state = ? WHERE id = ?')
  const doubtCutOff = database.prepare<[]>(
    `UPDATE content INDEXED BY content_in_doubt SET state = 'doubt', doubts = doubts + 1
     WHERE (state = 'sending' OR state = 'doubt') AND state = 'sending'`,
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
  let nextSeq: number | undefined
  return {
    get: (id: number): ContentRow | undefined => get.get(id),
    /** The columns that decide about an upload, and no others, because the planner reads them for every file. */
    getUploadState: (id: number): UploadState => onlyRow(uploadState.get(id)),
    findByResource: (libraryId: number, resourceId: string): ContentRow | undefined =>
      byResource.get(libraryId, resourceId),
    find: ({ libraryId, sha256, mime }: ContentKey): ContentRow | undefined => find.get({ libraryId, sha256, mime }),
    setState: (id: number, state: 'new' | 'sending') => void setState.run(state, id),
    markInDoubt: (id: number) => void addDoubt.run(id),
    /** Marks the uploads that the store's last holder left in flight as in doubt. */
    doubtCutOff: () => void doubtCutOff.run(),
    markRefused: (id: number, problem: ContentProblem) =>
      void refuse.run(problem.code, problem.message, problem.retryAt, id),
    /** Records the resource id, which the store never forgets from then on (P13). */
    markStored: (id: number, stored: StoredContent): void => {
      nextSeq ??= onlyRow(maxSeq.get()).seq + 1
      const { resourceId, isDuplicate, hasSecondLocation, mirrorId, runId, nowMs, host = null } = stored
      store.run(resourceId, Number(isDuplicate), Number(hasSecondLocation), nowMs, nextSeq, mirrorId, runId, host, id)
      nextSeq += 1
      announceNewlyPending()
    },
    /** Contents in doubt or in flight that this mirror uploaded, or another one did and a file of this one has them. */
    listDoubtful: ({ id, library }: MirrorKey): DoubtfulContent[] => doubtful.all(library.id, id, id),
  }
}

function prepareIngestion(database: Database.Database, announceNewlyPending: () => void) {
  const pending = database.prepare<[number, number, number, number], PendingResource>(
    `SELECT ${PENDING_COLUMNS} FROM content INDEXED BY content_pending
     WHERE library_id = ? AND mirror_id = ? AND outcome = 'pending' AND stored_seq > ? ORDER BY stored_seq LIMIT ?`,
  )
  // A mirror follows what it uploaded, and uploads of the library's other mirrors if it has a file of the content.
  const isFollowed = `c.library_id = ? AND c.outcome = 'pending' AND (c.mirror_id = ? OR ${HAS_FILE})`
  const pendingCount = database.prepare<[number, number, number], { n: number }>(
    `SELECT count(*) AS n FROM content c WHERE ${isFollowed}`,
  )
  const due = database.prepare<[number, number, number], PendingResource>(
    `SELECT ${PENDING_COLUMNS} FROM content
     WHERE mirror_id = ? AND state = 'stored' AND problem_code IS NOT NULL AND is_set_aside = 0
       AND coalesce(retry_at, 0) NOT BETWEEN ? AND ? ORDER BY retry_at LIMIT 1000`,
  )
  const nextRecheck = database.prepare<[number, number], { at: number | null }>(
    `SELECT min(retry_at) AS at FROM content
     WHERE mirror_id = ? AND state = 'stored' AND problem_code IS NOT NULL AND is_set_aside = 0 AND retry_at > ?`,
  )
  const claim = database.prepare<[number, number, number, number, number]>(
    `UPDATE content AS c SET run_id = ?, mirror_id = ? WHERE ${isFollowed}`,
  )
  const isNotWhole = `c.library_id = ? AND (c.mirror_id = ? OR ${HAS_FILE}) AND c.is_set_aside = 0
    AND (c.outcome = 'partial' OR c.outcome = 'searchable')
    AND (c.outcome = 'partial' OR c.outcome = 'failed' OR c.outcome = 'unknown' OR c.ingestion_note IS NOT NULL)`
  const anyNotWhole = database.prepare<[number, number, number], { n: number }>(
    `SELECT EXISTS (SELECT 1 FROM content c INDEXED BY content_unusual WHERE ${isNotWhole}) AS n`,
  )
  const followAgain = database.prepare<[number, number, number]>(
    `UPDATE content AS c INDEXED BY content_unusual SET outcome = 'pending', ${NO_PROBLEM} WHERE ${isNotWhole}`,
  )
  const setStatus = database.prepare<[string | null, IngestionOutcome, number | null, string | null, number, number]>(
    `UPDATE content SET ingestion_status = ?, outcome = ?, searchable_at = ?, ingestion_note = ?, ingestion_seen_at = ?
     WHERE id = ?`,
  )
  const setSeen = database.prepare<[string | null, number, number]>(
    `UPDATE content SET ingestion_status = ?, ingestion_seen_at = ? WHERE id = ? AND outcome = 'pending'`,
  )
  const setProblem = database.prepare<[string, string, number | null, number]>(
    `UPDATE content SET problem_code = ?, problem_message = ?, retry_at = ?, problem_count = problem_count + 1
     WHERE id = ?`,
  )
  const clearProblem = database.prepare<[number]>(`UPDATE content SET ${NO_PROBLEM} WHERE id = ?`)
  const clearPollProblem = database.prepare<[number]>(
    `UPDATE content SET ${NO_PROBLEM} WHERE id = ? AND outcome = 'pending'`,
  )
  const tally = database.prepare<[number, number], IngestionTally>(
    `SELECT outcome, ingestion_status AS status, iif(ingestion_note = '${quoted(WITHOUT_TEXT)}', mime, NULL) AS mimeWithoutText,
            min(iif(ingestion_status = 'completed_with_warnings', nullif(ingestion_note, '${quoted(WITHOUT_TEXT)}'), NULL)) AS warning,
            count(*) AS n, sum((SELECT count(*) FROM file f JOIN directory d ON d.id = f.directory_id
              WHERE f.content_id = content.id AND d.mirror_id = content.mirror_id)) AS files FROM content
     WHERE run_id = ? AND mirror_id = ? AND outcome IS NOT NULL GROUP BY 1, 2, 3`,
  )
  // The order by hash makes the first rows an arbitrary sample.
  const searchableTexts = database.prepare<[number, number, number, number], SearchableText>(
    `SELECT c.sha256, c.size, c.resource_id AS resourceId, min(${FILE_PATH}) AS path
     FROM content c JOIN file f ON f.content_id = c.id JOIN directory d ON d.id = f.directory_id AND d.mirror_id = c.mirror_id
     WHERE c.run_id = ? AND c.mirror_id = ? AND c.outcome = 'searchable' AND c.mime IN ('text/plain', 'text/markdown')
       AND c.size <= ? AND c.ingestion_note IS NOT '${quoted(WITHOUT_TEXT)}'
     GROUP BY c.id ORDER BY c.sha256 LIMIT ?`,
  )
  const becameSearchable = 'FROM content WHERE run_id = ? AND mirror_id = ? AND searchable_at IS NOT NULL'
  const countTimes = database.prepare<[number, number], { n: number }>(`SELECT count(*) AS n ${becameSearchable}`)
  const nthTime = database.prepare<[number, number, number], { ms: number }>(
    `SELECT searchable_at - uploaded_at AS ms ${becameSearchable} ORDER BY ms LIMIT 1 OFFSET ?`,
  )
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
  const nextRetry = database.prepare<[number, number], { at: number | null }>(
    `SELECT min(c.retry_at) AS at FROM content c INDEXED BY content_troubled
     WHERE c.library_id = ? AND c.state IN ('refused', 'doubt') AND c.is_set_aside = 0 AND c.retry_at IS NOT NULL
       AND ${IS_TROUBLED} AND ${HAS_FILE}`,
  )
  return {
    /** Pending resources of a mirror in the order they were stored, after `afterSeq`. */
    listPending: ({ id, library }: MirrorKey, afterSeq: number, limit: number): PendingResource[] =>
      pending.all(library.id, id, afterSeq, limit),
    countPending: ({ id, library }: MirrorKey): number => onlyRow(pendingCount.get(library.id, id, id)).n,
    /** Stored resources with a problem that are out of quarantine, so that they can be polled again; at most 1000. */
    listDueForRecheck: (mirrorId: number, nowMs: number): PendingResource[] =>
      due.all(mirrorId, ...quarantineEnds(nowMs)),
    /** What would be sent for a mirror's open files, if all of their contents are new; otherwise undefined. */
    tallyIfNew: (mirrorId: number): { contents: number; bytes: number; copies: number } | undefined => {
      const { areNew, ...tally } = onlyRow(ifNew.get(mirrorId))
      return areNew === 1 ? tally : undefined
    },
    /** When the next quarantine of a stored resource ends (wall clock); null when none is running. */
    nextRecheckAt: (mirrorId: number, nowMs: number): number | null => onlyRow(nextRecheck.get(mirrorId, nowMs)).at,
    /** Assigns all pending resources that the mirror follows to the mirror and to this run's summary. */
    claimPending: ({ id, library }: MirrorKey, runId: number): void => {
      claim.run(runId, id, library.id, id, id)
      announceNewlyPending()
    },
    /** Of resources without text, or with part of it, that the mirror follows; `followAgain` is for those that are read anew. */
    isAnyNotWhole: ({ id, library }: MirrorKey): boolean => onlyRow(anyNotWhole.get(library.id, id, id)).n === 1,
    followAgain: ({ id, library }: MirrorKey): void => {
      followAgain.run(library.id, id, id)
      announceNewlyPending()
    },
    setIngestion: (id: number, { status, outcome, searchableAt, note, seenAt }: SeenIngestion) =>
      void setStatus.run(status, outcome, searchableAt, note, seenAt, id),
    /** Records that the service reported a resource as still pending. */
    setIngestionSeen: (id: number, status: string | null, seenAt: number) => void setSeen.run(status, seenAt, id),
    setProblem: (id: number, problem: ContentProblem | null) =>
      void (problem ? setProblem.run(problem.code, problem.message, problem.retryAt, id) : clearProblem.run(id)),
    /** Clears the problem of a pending resource, because the service reports on it again. */
    clearPollProblem: (id: number) => void clearPollProblem.run(id),
    tallyIngestion: (runId: number, mirrorId: number): IngestionTally[] => tally.all(runId, mirrorId),
    /** An arbitrary sample of a run's text documents that are searchable, of at most `mostBytes` each. */
    listSearchableTexts: (runId: number, mirrorId: number, mostBytes: number, limit: number): SearchableText[] =>
      searchableTexts.all(runId, mirrorId, mostBytes, limit),
    /** How many of a run's resources are searchable. */
    countTimesToSearchable: (runId: number, mirrorId: number): number => onlyRow(countTimes.get(runId, mirrorId)).n,
    /** Milliseconds from upload to searchable of one of those resources, by its index in ascending order. */
    nthTimeToSearchable: (runId: number, mirrorId: number, index: number): number =>
      onlyRow(nthTime.get(runId, mirrorId, index)).ms,
    /** Contents of a mirror's present files that need attention and are not set aside; at most 10,000. */
    listTroubled: (mirrorId: number, libraryId: number): TroubledContent[] => troubled.all(mirrorId, libraryId),
    /** The contents of a mirror's present files that have a problem and are not set aside, counted by its code. */
    countTroubled: (mirrorId: number, libraryId: number): CodeCount[] => troubledCounts.all(libraryId, mirrorId),
    /** When the next failed upload of the mirror's contents may be retried (wall clock); null when there is none. */
    nextRetryAt: ({ id, library }: MirrorKey): number | null => nextRetry.get(library.id, id)?.at ?? null,
    /** Number and bytes of a mirror's contents that wait for their upload. */
    countToSend: (mirrorId: number): { n: number; bytes: number } => onlyRow(toSend.get(mirrorId)),
  }
}
