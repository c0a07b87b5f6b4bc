import type Database from 'better-sqlite3'

export interface RunRow {
  readonly id: number
  readonly mirror: string
  readonly startedAt: number
  readonly finishedAt: number | null
  readonly verdict: string | null
  readonly summary: string | null
}

export type RunQueries = ReturnType<typeof prepareRuns>

/** How many runs of a mirror are remembered. */
const KEPT_RUNS = 1_000

/** Passes over mirrors, with their summaries as JSON. */
export function prepareRuns(database: Database.Database) {
  const columns = `r.id, m.name AS mirror, r.started_at AS startedAt, r.finished_at AS finishedAt, r.verdict, r.summary`
  const begin = database.prepare<[number, number], { id: number }>(
    'INSERT INTO run (mirror_id, started_at) VALUES (?, ?) RETURNING id',
  )
  const finish = database.prepare<[string, string, number, number]>(
    'UPDATE run SET verdict = ?, summary = ?, finished_at = ? WHERE id = ?',
  )
  const prune = database.prepare<[number, number, number]>(
    `DELETE FROM run WHERE mirror_id = ? AND id <=
       (SELECT id FROM run WHERE mirror_id = ? ORDER BY id DESC LIMIT 1 OFFSET ?)`,
  )
  const last = database.prepare<[number], RunRow>(
    `SELECT ${columns} FROM run r JOIN mirror m ON m.id = r.mirror_id WHERE r.mirror_id = ? ORDER BY r.id DESC LIMIT 1`,
  )
  const list = database.prepare<[number], RunRow>(
    `SELECT ${columns} FROM run r JOIN mirror m ON m.id = r.mirror_id ORDER BY r.id DESC LIMIT ?`,
  )
  return {
    begin: (mirrorId: number, nowMs: number): number => begin.get(mirrorId, nowMs)?.id ?? 0,
    finish: (mirrorId: number, runId: number, verdict: string, summary: unknown, nowMs: number): void => {
      finish.run(verdict, JSON.stringify(summary), nowMs, runId)
      prune.run(mirrorId, mirrorId, KEPT_RUNS)
    },
    last: (mirrorId: number): RunRow | undefined => last.get(mirrorId),
    list: (limit: number): RunRow[] => list.all(limit),
  }
}
