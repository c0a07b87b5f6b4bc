import type Database from 'better-sqlite3'
import type { IngestionOutcome } from '../../contract/states.ts'
import { quarantineEnds } from '../../rules/retry-delay.ts'
import { EMPTY, WITHOUT_TEXT } from '../../rules/without-text.ts'
import { FILE_PATH, HAS_FILE, NO_PROBLEM, onlyRow, quoted } from '../sql.ts'
import type { MirrorKey } from './mirrors.ts'

export interface PendingResource {
  readonly contentId: number
  readonly resourceId: string
  readonly storedSeq: number
  readonly uploadedAt: number
  readonly searchableAt: number | null
  readonly hasProblem: number
  /** The host of a fleet that sent it; null: this one. */
  readonly host: string | null
}

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
  /** Null for contents with searchable text. */
  readonly mimeWithoutText: string | null
  /** One of the warnings about searchable text; null without any. */
  readonly warning: string | null
  readonly n: number
  readonly files: number
}

export interface SearchableText {
  readonly sha256: Buffer
  readonly size: number
  readonly resourceId: string
  readonly path: string
}

const PENDING_COLUMNS = `id AS contentId, resource_id AS resourceId, stored_seq AS storedSeq, uploaded_at AS uploadedAt,
       searchable_at AS searchableAt, problem_code IS NOT NULL AS hasProblem, host`

export function prepareIngestion(database: Database.Database, announceNewlyPending: () => void) {
  const pending = database.prepare<[number, number, number, number], PendingResource>(
    `SELECT ${PENDING_COLUMNS} FROM content INDEXED BY content_pending
     WHERE library_id = ? AND mirror_id = ? AND outcome = 'pending' AND stored_seq > ? ORDER BY stored_seq LIMIT ?`,
  )
  // A mirror follows its uploads, and those of the library's other mirrors if it has a file of the content.
  const isFollowed = `c.library_id = ? AND c.outcome = 'pending' AND (c.mirror_id = ? OR ${HAS_FILE})`
  const pendingCount = database.prepare<[number, number, number], { n: number }>(
    `SELECT count(*) AS n FROM content c WHERE ${isFollowed}`,
  )
  // Contents without a time are left out: only "failed retry" makes them due.
  const due = database.prepare<[number, number, number], PendingResource>(
    `SELECT ${PENDING_COLUMNS} FROM content
     WHERE mirror_id = ? AND state = 'stored' AND problem_code IS NOT NULL AND is_set_aside = 0
       AND retry_at NOT BETWEEN ? AND ? ORDER BY retry_at LIMIT 1000`,
  )
  const nextRecheck = database.prepare<[number, number], { at: number | null }>(
    `SELECT min(retry_at) AS at FROM content
     WHERE mirror_id = ? AND state = 'stored' AND problem_code IS NOT NULL AND is_set_aside = 0 AND retry_at > ?`,
  )
  const claim = database.prepare<[number, number, number, number, number]>(
    `UPDATE content AS c SET run_id = ?, mirror_id = ? WHERE ${isFollowed}`,
  )
  const isIncomplete = `c.library_id = ? AND (c.mirror_id = ? OR ${HAS_FILE}) AND c.is_set_aside = 0
    AND (c.outcome = 'partial' OR c.outcome = 'searchable')
    AND (c.outcome = 'partial' OR c.outcome = 'failed' OR c.outcome = 'unknown' OR c.ingestion_note IS NOT NULL)`
  const anyIncomplete = database.prepare<[number, number, number], { n: number }>(
    `SELECT EXISTS (SELECT 1 FROM content c INDEXED BY content_unusual WHERE ${isIncomplete}) AS n`,
  )
  const followAgain = database.prepare<[number, number, number]>(
    `UPDATE content AS c INDEXED BY content_unusual SET outcome = 'pending', ${NO_PROBLEM} WHERE ${isIncomplete}`,
  )
  const setStatus = database.prepare<
    [string | null, IngestionOutcome, number | null, number, IngestionOutcome, string | null, number]
  >(
    `UPDATE content SET ingestion_status = ?, outcome = ?, searchable_at = ?, ingestion_seen_at = ?,
       ingestion_note = iif(size = 0 AND ? = 'searchable', '${quoted(WITHOUT_TEXT)}', ?) WHERE id = ?`,
  )
  const setSeen = database.prepare<[string | null, number, number]>(
    `UPDATE content SET ingestion_status = ?, ingestion_seen_at = ? WHERE id = ? AND outcome = 'pending'`,
  )
  const clearPollProblem = database.prepare<[number]>(
    `UPDATE content SET ${NO_PROBLEM} WHERE id = ? AND outcome = 'pending'`,
  )
  const tally = database.prepare<[number, number], IngestionTally>(
    `SELECT outcome, ingestion_status AS status, iif(ingestion_note = '${quoted(WITHOUT_TEXT)}', iif(size = 0, '${EMPTY}', mime), NULL) AS mimeWithoutText,
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
  return {
    /** Lists resources in the order in which they were stored, after `afterSeq`. */
    listPending: ({ id, library }: MirrorKey, afterSeq: number, limit: number): PendingResource[] =>
      pending.all(library.id, id, afterSeq, limit),
    countPending: ({ id, library }: MirrorKey): number => onlyRow(pendingCount.get(library.id, id, id)).n,
    /** Lists stored resources with a problem whose quarantine is over; at most 1,000. */
    listDueForRecheck: (mirrorId: number, nowMs: number): PendingResource[] =>
      due.all(mirrorId, ...quarantineEnds(nowMs)),
    /** Wall clock; null when no quarantine is running. */
    nextRecheckAt: (mirrorId: number, nowMs: number): number | null => onlyRow(nextRecheck.get(mirrorId, nowMs)).at,
    /** From now on the summary of this run counts the pending resources of the mirror. */
    claimPending: ({ id, library }: MirrorKey, runId: number): void => {
      claim.run(runId, id, library.id, id, id)
      announceNewlyPending()
    },
    /** Returns whether some resource lacks text. When the library can read such resources again, call `followAgain`. */
    isAnyTextIncomplete: ({ id, library }: MirrorKey): boolean =>
      onlyRow(anyIncomplete.get(library.id, id, id)).n === 1,
    followAgain: ({ id, library }: MirrorKey): void => {
      followAgain.run(library.id, id, id)
      announceNewlyPending()
    },
    setIngestion: (id: number, { status, outcome, searchableAt, note, seenAt }: SeenIngestion) =>
      void setStatus.run(status, outcome, searchableAt, seenAt, outcome, note, id),
    setIngestionSeen: (id: number, status: string | null, seenAt: number) => void setSeen.run(status, seenAt, id),
    /** Call it when the service reports on the resource again. */
    clearPollProblem: (id: number) => void clearPollProblem.run(id),
    tallyIngestion: (runId: number, mirrorId: number): IngestionTally[] => tally.all(runId, mirrorId),
    /** Lists an arbitrary sample of texts with at most `maxBytes` each. */
    listSearchableTexts: (runId: number, mirrorId: number, maxBytes: number, limit: number): SearchableText[] =>
      searchableTexts.all(runId, mirrorId, maxBytes, limit),
    countTimesToSearchable: (runId: number, mirrorId: number): number => onlyRow(countTimes.get(runId, mirrorId)).n,
    nthTimeToSearchable: (runId: number, mirrorId: number, index: number): number =>
      onlyRow(nthTime.get(runId, mirrorId, index)).ms,
  }
}
