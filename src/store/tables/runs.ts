import type Database from 'better-sqlite3'
import { onlyRow } from '../sql.ts'

export interface RunRow {
  readonly id: number
  readonly startedAt: number
  readonly finishedAt: number | null
  readonly verdict: string | null
  readonly summary: string | null
}

const KEPT_RUNS = 1_000

export function prepareRuns(database: Database.Database) {
  const columns = 'id, started_at AS startedAt, finished_at AS finishedAt, verdict, summary'
  const begin = database.prepare<[number], { id: number }>('INSERT INTO run (started_at) VALUES (?) RETURNING id')
  const join = database.prepare<[number, number]>('UPDATE mirror SET last_run_id = ? WHERE id = ?')
  const finish = database.prepare<[string, string, number, number]>(
    'UPDATE run SET verdict = ?, summary = ?, finished_at = ? WHERE id = ?',
  )
  const endCutOff = database.prepare<[]>(
    "UPDATE run SET verdict = 'cut off' WHERE verdict IS NULL AND finished_at IS NULL",
  )
  const prune = database.prepare<[number]>('DELETE FROM run WHERE id <= ?')
  const last = database.prepare<[number], RunRow>(
    `SELECT ${columns} FROM run WHERE id = (SELECT last_run_id FROM mirror WHERE id = ?)`,
  )
  const newest = database.prepare<[number], RunRow>(`SELECT ${columns} FROM run ORDER BY id DESC LIMIT ?`)
  const all = database.prepare<[], RunRow>(`SELECT ${columns} FROM run ORDER BY id DESC`)
  return {
    begin: (nowMs: number): number => onlyRow(begin.get(nowMs)).id,
    join: (runId: number, mirrorId: number) => void join.run(runId, mirrorId),
    finish: (runId: number, verdict: string, summary: unknown, nowMs: number): void => {
      finish.run(verdict, JSON.stringify(summary), nowMs, runId)
      prune.run(runId - KEPT_RUNS)
    },
    /** Ends runs that earlier processes did not finish. */
    endCutOff: () => void endCutOff.run(),
    last: (mirrorId: number): RunRow | undefined => last.get(mirrorId),
    listNewest: (limit: number): RunRow[] => newest.all(limit),
    iterateNewest: (): IterableIterator<RunRow> => all.iterate(),
  }
}

interface TimelineSpec {
  readonly fromMs: number
  readonly toMs: number
  readonly intervalMs: number
}

export function prepareTimeline(database: Database.Database) {
  const arrived = "u.outcome IN ('created', 'duplicate', 'adopted')"
  const uploads = `FROM upload u INDEXED BY upload_by_day JOIN content c ON c.id = u.content_id
     WHERE u.begun_at >= @fromMs AND u.begun_at < @toMs`
  const slot = 'CAST((u.begun_at - @fromMs) / @intervalMs AS INTEGER)'
  const tally = database.prepare<TimelineSpec, { slot: number; sent: number; bytes: number; failed: number }>(
    `SELECT ${slot} AS slot, sum(${arrived}) AS sent, sum(iif(${arrived}, c.size, 0)) AS bytes,
       sum(u.outcome IN ('refused', 'doubt', 'absent') OR (${arrived} AND c.outcome IN ('failed', 'partial', 'unknown'))) AS failed
     ${uploads} AND u.outcome IS NOT NULL GROUP BY slot`,
  )
  const medians = database.prepare<TimelineSpec, { slot: number; medianMs: number }>(
    `SELECT slot, afterMs AS medianMs FROM (
       SELECT slot, afterMs, row_number() OVER (PARTITION BY slot ORDER BY afterMs) AS rank, count(*) OVER (PARTITION BY slot) AS n
       FROM (SELECT ${slot} AS slot, max(0, c.searchable_at - c.uploaded_at) AS afterMs
         ${uploads} AND u.outcome = 'created' AND c.searchable_at IS NOT NULL))
     WHERE rank = (n + 1) / 2`,
  )
  return {
    /** Counts uploads by interval: slot 0 is the oldest, one without uploads is left out. A failed ingestion counts at its upload. */
    tally: (spec: TimelineSpec) => tally.all(spec),
    /** Lists the median time until a resource was searchable, by interval of the upload. */
    listMedians: (spec: TimelineSpec) => medians.all(spec),
  }
}
