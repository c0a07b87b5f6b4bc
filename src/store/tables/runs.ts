import type Database from 'better-sqlite3'
import { onlyRow } from '../sql/only-row.ts'

export interface RunRow {
  readonly id: number
  readonly startedAt: number
  readonly finishedAt: number | null
  readonly verdict: string | null
  readonly summary: string | null
}

/** The store keeps so many runs. */
const KEPT_RUNS = 1_000

/** Queries on runs, with their summaries as JSON. */
export function prepareRuns(database: Database.Database) {
  const columns = 'id, started_at AS startedAt, finished_at AS finishedAt, verdict, summary'
  const begin = database.prepare<[number], { id: number }>('INSERT INTO run (started_at) VALUES (?) RETURNING id')
  const join = database.prepare<[number, number]>('UPDATE mirror SET last_run_id = ? WHERE id = ?')
  const finish = database.prepare<[string, string, number, number]>(
    'UPDATE run SET verdict = ?, summary = ?, finished_at = ? WHERE id = ?',
  )
  const prune = database.prepare<[number]>('DELETE FROM run WHERE id <= ?')
  const last = database.prepare<[number], RunRow>(
    `SELECT ${columns} FROM run WHERE id = (SELECT last_run_id FROM mirror WHERE id = ?)`,
  )
  const newest = database.prepare<[number], RunRow>(`SELECT ${columns} FROM run ORDER BY id DESC LIMIT ?`)
  const all = database.prepare<[], RunRow>(`SELECT ${columns} FROM run ORDER BY id DESC`)
  return {
    begin: (nowMs: number): number => onlyRow(begin.get(nowMs)).id,
    /** Records the run as the mirror's last one. */
    join: (runId: number, mirrorId: number): void => {
      join.run(runId, mirrorId)
    },
    finish: (runId: number, verdict: string, summary: unknown, nowMs: number): void => {
      finish.run(verdict, JSON.stringify(summary), nowMs, runId)
      prune.run(runId - KEPT_RUNS)
    },
    /** The newest run that included a mirror. */
    last: (mirrorId: number): RunRow | undefined => last.get(mirrorId),
    /** The newest runs over any mirrors, newest first. */
    listNewest: (limit: number): RunRow[] => newest.all(limit),
    /** All runs over any mirrors, newest first. */
    iterateNewest: (): IterableIterator<RunRow> => all.iterate(),
  }
}
