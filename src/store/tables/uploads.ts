import type Database from 'better-sqlite3'
import type { Moment } from '../../foundation/clock.ts'
import { ClockHistory } from '../../rules/clock-history.ts'
import { onlyRow } from '../sql.ts'

export const uploadOutcomes = ['created', 'duplicate', 'adopted', 'absent', 'refused', 'doubt', 'not-sent'] as const
export type UploadOutcome = (typeof uploadOutcomes)[number]

export interface NewIntent {
  readonly contentId: number
  readonly mirrorId: number
  readonly path: string
  readonly remoteDirectory: string
  readonly runId: number
  readonly begunAt: Moment
}

export type UploadTarget = Pick<NewIntent, 'path' | 'remoteDirectory'>

export interface UploadRow {
  readonly id: number
  readonly path: string
  readonly attempt: number
  readonly begunAt: number
  readonly endedAt: number | null
  readonly outcome: UploadOutcome | null
  readonly message: string | null
}

/** The last `spanMs` before `now`, by the wall clock or the monotonic clock. */
export interface UploadSpan {
  readonly spanMs: number
  readonly now: Moment
}

export function prepareUploads(database: Database.Database) {
  const intend = database.prepare<[number, number, string, string, number, number, number]>(
    `INSERT INTO upload (content_id, mirror_id, path, remote_directory, attempt, run_id, begun_at)
     VALUES (?, ?, ?, ?, 1 + (SELECT count(*) FROM upload WHERE content_id = ?), ?, ?)`,
  )
  const intendElsewhere = database.prepare<[number, number, string, string, number, number, number, string]>(
    `INSERT INTO upload (content_id, mirror_id, path, remote_directory, attempt, run_id, begun_at, outcome, host)
     VALUES (?, ?, ?, ?, 1 + (SELECT count(*) FROM upload WHERE content_id = ?), ?, ?, 'doubt', ?)`,
  )
  const end = database.prepare<[UploadOutcome, string | null, number, number]>(
    'UPDATE upload SET outcome = ?, message = coalesce(?, message), ended_at = ? WHERE id = ?',
  )
  const byContent = database.prepare<[number], UploadRow>(
    `SELECT id, path, attempt, begun_at AS begunAt, ended_at AS endedAt, outcome, message
     FROM upload WHERE content_id = ? ORDER BY id`,
  )
  const unaccounted = database.prepare<[number], UploadTarget>(
    `SELECT path, remote_directory AS remoteDirectory FROM upload WHERE content_id = ? AND coalesce(outcome, 'doubt') IN ('doubt', 'absent')
     GROUP BY path, remote_directory ORDER BY max(id) DESC`,
  )
  // All uploads of this host but `not-sent`: one that a search did not find (`absent`) may still appear.
  const isSent = `coalesce(u.outcome, 'doubt') <> 'not-sent' AND u.host IS NULL`
  const fields = ['firstId', 'lastId', 'afterMs', 'beforeMs', 'delayMs']
  const ranges = `WITH range (first_id, last_id, after, before, delay) AS MATERIALIZED
     (SELECT ${fields.map((field) => `value ->> '${field}'`).join(', ')} FROM json_each(?))`
  // CROSS JOIN fixes the order of the loops.
  const inRange = `range r CROSS JOIN upload u INDEXED BY upload_by_day
     ON u.begun_at > r.after AND u.begun_at < r.before AND u.id BETWEEN r.first_id AND r.last_id`
  const sentTo = `FROM ${inRange} JOIN mirror m ON m.id = u.mirror_id JOIN library l ON l.id = m.library_id
     WHERE l.origin = ? AND ${isSent}`
  const sentWithin = database.prepare<[string, string], { n: number }>(`${ranges} SELECT count(*) AS n ${sentTo}`)
  const nthLeaving = database
    .prepare<[string, string, number], number>(
      `${ranges} SELECT u.begun_at + r.delay AS leaves ${sentTo} ORDER BY leaves LIMIT 1 OFFSET ?`,
    )
    .pluck()
  const sums = `SELECT count(*) AS n, coalesce(sum(c.size), 0) AS bytes FROM upload u JOIN content c ON c.id = u.content_id`
  const tally = database.prepare<[string, number], { n: number; bytes: number }>(
    `${ranges} SELECT count(*) AS n, coalesce(sum(c.size), 0) AS bytes FROM ${inRange} JOIN content c ON c.id = u.content_id
     WHERE u.mirror_id = ? AND ${isSent}`,
  )
  const ofRun = database.prepare<[number, number], { n: number; bytes: number }>(
    `${sums} WHERE u.id > ? AND u.run_id = ? AND ${isSent}`,
  )
  const arrived = database.prepare<[number, number], { n: number; bytes: number }>(
    `${sums} WHERE u.mirror_id = ? AND u.begun_at >= ? AND u.outcome IN ('created', 'duplicate', 'adopted')`,
  )
  const underWay = database.prepare<[number, number], { n: number; bytes: number }>(
    `${sums} WHERE u.mirror_id = ? AND u.begun_at >= ? AND u.outcome IS NULL`,
  )
  const lastId = database.prepare<[], number>('SELECT coalesce(max(id), 0) FROM upload').pluck()
  // Knows by both clocks when each upload of this process began; no other process writes to the store meanwhile.
  const clocks = new ClockHistory()
  const within = ({ spanMs, now }: UploadSpan) => JSON.stringify(clocks.listWithin(spanMs, now))
  return {
    intend: ({ contentId, mirrorId, path, remoteDirectory, runId, begunAt }: NewIntent): number => {
      const added = intend.run(contentId, mirrorId, path, remoteDirectory, contentId, runId, begunAt.wallMs)
      const id = Number(added.lastInsertRowid)
      clocks.note(id, begunAt)
      return id
    },
    /** Records an upload that another host may have made, so that a search covers its place. It counts towards no limit of this host. */
    recordElsewhere: ({ contentId, mirrorId, path, remoteDirectory, runId, begunAt }: NewIntent, host: string): void =>
      void intendElsewhere.run(contentId, mirrorId, path, remoteDirectory, contentId, runId, begunAt.wallMs, host),
    end: (uploadId: number, outcome: UploadOutcome, message: string | null, nowMs: number) =>
      void end.run(outcome, message, nowMs, uploadId),
    /** Lists places of uploads that may have arrived without a receipt, the latest first. */
    listUnaccounted: (contentId: number): UploadTarget[] => unaccounted.all(contentId),
    listByContent: (contentId: number): UploadRow[] => byContent.all(contentId),
    /** Counts uploads to a service that were or may have been sent, for the daily limit. */
    countWithin: (origin: string, span: UploadSpan): number => onlyRow(sentWithin.get(within(span), origin)).n,
    /** Returns when the upload at `index` (from 0) leaves the span (wall clock); undefined if there are fewer. */
    leaveTime: (origin: string, span: UploadSpan, index: number): number | undefined => {
      const leaves = nthLeaving.get(within(span), origin, index)
      return leaves === undefined ? undefined : Math.ceil(leaves + span.spanMs)
    },
    /** Counts the uploads of a run over all mirrors; `afterId` is the last upload before the run. */
    tallyRun: (runId: number, afterId: number): { n: number; bytes: number } => onlyRow(ofRun.get(afterId, runId)),
    tallyArrived: (mirrorId: number, sinceMs: number): { n: number; bytes: number } =>
      onlyRow(arrived.get(mirrorId, sinceMs)),
    tallyUnderWay: (mirrorId: number, sinceMs: number): { n: number; bytes: number } =>
      onlyRow(underWay.get(mirrorId, sinceMs)),
    lastId: (): number => onlyRow(lastId.get()),
    /** Counts a mirror's uploads that were or may have been sent. */
    tallyWithin: (mirrorId: number, span: UploadSpan): { n: number; bytes: number } =>
      onlyRow(tally.get(within(span), mirrorId)),
  }
}
