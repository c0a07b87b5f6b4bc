import type Database from 'better-sqlite3'
import type { PathProblem } from '../../rules/problem-groups.ts'
import { FILE_PATH } from '../sql.ts'
import type { CodeCount, ContentRow } from './contents.ts'

export interface ProblemRow extends PathProblem {
  readonly firstAt: number
  readonly count: number
  readonly retryAt: number | null
  readonly isSetAside: number
}

export function prepareProblems(database: Database.Database) {
  const ofMirror = `SELECT path, code, message, first_at AS firstAt, count, retry_at AS retryAt,
      is_set_aside AS isSetAside
    FROM problem WHERE mirror_id = ?`
  const list = database.prepare<[number], ProblemRow>(`${ofMirror} ORDER BY path`)
  const find = database.prepare<[number, string], ProblemRow>(`${ofMirror} AND path = ?`)
  const counts = database.prepare<[number], CodeCount>(
    'SELECT code, count(*) AS count FROM problem WHERE mirror_id = ? AND is_set_aside = 0 GROUP BY code',
  )
  const upsert = database.prepare<[number, string, string, string, number]>(
    `INSERT INTO problem (mirror_id, path, code, message, first_at, count) VALUES (?, ?, ?, ?, ?, 1)
     ON CONFLICT DO UPDATE SET code = excluded.code, message = excluded.message, count = count + 1,
       is_set_aside = is_set_aside AND code = excluded.code`,
  )
  const setAside = database.prepare<[number, string, string, number]>(
    `UPDATE problem SET is_set_aside = ? WHERE mirror_id = (SELECT id FROM mirror WHERE name = ?) AND path = ? AND is_set_aside <> ?`,
  )
  const remove = database.prepare<[number, string]>('DELETE FROM problem WHERE mirror_id = ? AND path = ?')
  return {
    list: (mirrorId: number): ProblemRow[] => list.all(mirrorId),
    listOpen: (mirrorId: number): ProblemRow[] => list.all(mirrorId).filter(({ isSetAside }) => isSetAside === 0),
    /** Counts problems that are not set aside. */
    countByCode: (mirrorId: number): CodeCount[] => counts.all(mirrorId),
    find: (mirrorId: number, path: string): ProblemRow | undefined => find.get(mirrorId, path),
    record: (mirrorId: number, { path, code, message }: PathProblem, nowMs: number) =>
      void upsert.run(mirrorId, path, code, message, nowMs),
    /** Returns false if that changed nothing. */
    setAside: (mirror: string, path: string, isSetAside: boolean): boolean =>
      setAside.run(Number(isSetAside), mirror, path, Number(isSetAside)).changes > 0,
    clear: (mirrorId: number, path: string) => void remove.run(mirrorId, path),
  }
}

/** A failed content has one row for each of its files. */
export interface QuarantineRow
  extends Pick<ContentRow, 'sha256' | 'mime' | 'size' | 'state' | 'resourceId' | 'retryAt' | 'isSetAside'> {
  readonly contentId: number
  readonly code: string
  readonly message: string | null
  readonly tries: number
  /** When the upload first failed or, for an ingestion, when the resource was uploaded. */
  readonly since: number | null
  readonly mirror: string
  readonly mirrorPath: string
  readonly path: string
}

export function prepareQuarantine(database: Database.Database) {
  const list = database.prepare<[], QuarantineRow>(
    `SELECT c.id AS contentId, c.sha256, c.mime, c.size, c.state, c.resource_id AS resourceId, c.problem_code AS code,
       c.problem_message AS message, c.problem_count AS tries, c.retry_at AS retryAt, c.is_set_aside AS isSetAside,
       coalesce(c.uploaded_at, (SELECT min(u.ended_at) FROM upload u WHERE u.content_id = c.id AND u.outcome IN ('refused', 'doubt', 'absent')))
         AS since,
       m.name AS mirror, m.path AS mirrorPath, ${FILE_PATH} AS path
     FROM library l JOIN content c INDEXED BY content_troubled ON c.library_id = l.id
     JOIN file f ON f.content_id = c.id JOIN directory d ON d.id = f.directory_id
     JOIN mirror m ON m.id = d.mirror_id AND m.library_id = c.library_id
     WHERE (c.problem_code IS NOT NULL OR c.state = 'sending' OR c.state = 'doubt') AND c.problem_code IS NOT NULL
     ORDER BY mirror, path`,
  )
  const retry = database.prepare<[number]>(
    'UPDATE content SET retry_at = 0, is_set_aside = 0 WHERE id = ? AND problem_code IS NOT NULL',
  )
  const setAside = database.prepare<[number]>(
    'UPDATE content SET is_set_aside = 1 WHERE id = ? AND problem_code IS NOT NULL AND is_set_aside = 0',
  )
  return {
    list: (): QuarantineRow[] => list.all(),
    /** Also ends a setting aside. Returns false for a content without a problem. */
    makeDue: (contentId: number): boolean => retry.run(contentId).changes > 0,
    /** Returns false if the content has no problem, or was set aside before. */
    setAside: (contentId: number): boolean => setAside.run(contentId).changes > 0,
  }
}
