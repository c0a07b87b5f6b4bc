import type Database from 'better-sqlite3'

export interface ProblemRow {
  readonly path: string
  readonly code: string
  readonly message: string
  readonly firstAt: number
  readonly count: number
  readonly retryAt: number | null
}

export interface NewProblem {
  readonly mirrorId: number
  readonly path: string
  readonly code: string
  readonly message: string
  readonly nowMs: number
}

export interface CodeCount {
  readonly code: string
  readonly count: number
}

/** Problems that scans or uploads found at local paths, kept until a later one finds none. */
export function prepareProblems(database: Database.Database) {
  const list = database.prepare<[number], ProblemRow>(
    `SELECT path, code, message, first_at AS firstAt, count, retry_at AS retryAt
     FROM problem WHERE mirror_id = ? ORDER BY path`,
  )
  const find = database.prepare<[number, string], ProblemRow>(
    `SELECT path, code, message, first_at AS firstAt, count, retry_at AS retryAt
     FROM problem WHERE mirror_id = ? AND path = ?`,
  )
  const counts = database.prepare<[number], CodeCount>(
    'SELECT code, count(*) AS count FROM problem WHERE mirror_id = ? GROUP BY code',
  )
  const upsert = database.prepare<[number, string, string, string, number]>(
    `INSERT INTO problem (mirror_id, path, code, message, first_at, count) VALUES (?, ?, ?, ?, ?, 1)
     ON CONFLICT DO UPDATE SET code = excluded.code, message = excluded.message, count = count + 1`,
  )
  const remove = database.prepare<[number, string]>('DELETE FROM problem WHERE mirror_id = ? AND path = ?')
  return {
    list: (mirrorId: number): ProblemRow[] => list.all(mirrorId),
    countByCode: (mirrorId: number): CodeCount[] => counts.all(mirrorId),
    find: (mirrorId: number, path: string): ProblemRow | undefined => find.get(mirrorId, path),
    record: (problem: NewProblem): void => {
      upsert.run(problem.mirrorId, problem.path, problem.code, problem.message, problem.nowMs)
    },
    clear: (mirrorId: number, path: string): void => {
      remove.run(mirrorId, path)
    },
  }
}
