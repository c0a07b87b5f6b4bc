import type Database from 'better-sqlite3'

export type UploadOutcome = 'created' | 'duplicate' | 'adopted' | 'absent' | 'refused' | 'doubt' | 'not-sent'

export interface NewIntent {
  readonly contentId: number
  readonly mirrorId: number
  readonly path: string
  readonly runId: number
  readonly nowMs: number
}

export interface UploadRow {
  readonly id: number
  readonly path: string
  readonly attempt: number
  readonly begunAt: number
  readonly endedAt: number | null
  readonly outcome: UploadOutcome | null
  readonly message: string | null
}

export type UploadQueries = ReturnType<typeof prepareUploads>

/** Attempts to send a content: an intent is committed before the first byte leaves (P2), its outcome after the answer. */
export function prepareUploads(database: Database.Database) {
  const intend = database.prepare<[number, number, string, number, number, number], { id: number }>(
    `INSERT INTO upload (content_id, mirror_id, path, attempt, run_id, begun_at)
     VALUES (?, ?, ?, 1 + (SELECT count(*) FROM upload WHERE content_id = ?), ?, ?) RETURNING id`,
  )
  const end = database.prepare<[UploadOutcome, string | null, number, number]>(
    'UPDATE upload SET outcome = ?, message = ?, ended_at = ? WHERE id = ?',
  )
  const byContent = database.prepare<[number], UploadRow>(
    `SELECT id, path, attempt, begun_at AS begunAt, ended_at AS endedAt, outcome, message
     FROM upload WHERE content_id = ? ORDER BY id`,
  )
  const sentSince = database.prepare<[number, number, number], { n: number }>(
    `SELECT count(*) AS n FROM upload u JOIN mirror m ON m.id = u.mirror_id
     WHERE m.library_id = ? AND u.begun_at BETWEEN ? AND ? AND coalesce(u.outcome, 'doubt') NOT IN ('not-sent', 'absent')`,
  )
  const tally = database.prepare<[number, number, number], { n: number; bytes: number }>(
    `SELECT count(*) AS n, coalesce(sum(c.size), 0) AS bytes FROM upload u JOIN content c ON c.id = u.content_id
     WHERE u.mirror_id = ? AND u.begun_at BETWEEN ? AND ? AND coalesce(u.outcome, 'doubt') NOT IN ('not-sent', 'absent')`,
  )
  return {
    intend: (intent: NewIntent): number =>
      intend.get(intent.contentId, intent.mirrorId, intent.path, intent.contentId, intent.runId, intent.nowMs)?.id ?? 0,
    end: (uploadId: number, outcome: UploadOutcome, message: string | null, nowMs: number): void => {
      end.run(outcome, message, nowMs, uploadId)
    },
    listByContent: (contentId: number): UploadRow[] => byContent.all(contentId),
    /**
     * Uploads to a library since `sinceMs` that may have cost something: what the daily limit counts. What seems to have
     * begun after `nowMs` was noted while the clock was wrong, and belongs to no span (P20).
     */
    countSince: (libraryId: number, sinceMs: number, nowMs: number): number =>
      sentSince.get(libraryId, sinceMs, nowMs)?.n ?? 0,
    /** The same for one mirror, with the bytes. */
    tallySince: (mirrorId: number, sinceMs: number, nowMs: number): { n: number; bytes: number } =>
      tally.get(mirrorId, sinceMs, nowMs) ?? { n: 0, bytes: 0 },
  }
}
