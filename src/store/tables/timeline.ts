import type Database from 'better-sqlite3'

/** A stretch of time that is cut into equal intervals (wall clock, milliseconds). */
export interface TimelineSpec {
  readonly fromMs: number
  readonly toMs: number
  readonly intervalMs: number
}

/** The uploads that began in one interval. */
export interface TimelineSlot {
  /** Counted from 0, the oldest. */
  readonly slot: number
  readonly sent: number
  readonly bytes: number
  readonly failed: number
}

export interface MedianSlot {
  readonly slot: number
  readonly medianMs: number
}

/** Queries on when uploads began and what became of them, by the record of each upload. */
export function prepareTimeline(database: Database.Database) {
  const arrived = "u.outcome IN ('created', 'duplicate', 'adopted')"
  const uploads = `FROM upload u INDEXED BY upload_by_day JOIN content c ON c.id = u.content_id
     WHERE u.begun_at >= @fromMs AND u.begun_at < @toMs`
  const slot = 'CAST((u.begun_at - @fromMs) / @intervalMs AS INTEGER)'
  const tally = database.prepare<TimelineSpec, TimelineSlot>(
    `SELECT ${slot} AS slot, sum(${arrived}) AS sent, sum(iif(${arrived}, c.size, 0)) AS bytes,
       sum(u.outcome IN ('refused', 'doubt', 'absent') OR (${arrived} AND c.outcome IN ('failed', 'partial', 'unknown'))) AS failed
     ${uploads} AND u.outcome IS NOT NULL GROUP BY slot`,
  )
  const medians = database.prepare<TimelineSpec, MedianSlot>(
    `SELECT slot, afterMs AS medianMs FROM (
       SELECT slot, afterMs, row_number() OVER (PARTITION BY slot ORDER BY afterMs) AS rank, count(*) OVER (PARTITION BY slot) AS n
       FROM (SELECT ${slot} AS slot, max(0, c.searchable_at - c.uploaded_at) AS afterMs
         ${uploads} AND u.outcome = 'created' AND c.searchable_at IS NOT NULL))
     WHERE rank = (n + 1) / 2`,
  )
  return {
    /** Intervals in which nothing began are left out. Contents whose ingestion failed count when they were sent. */
    tally: (spec: TimelineSpec): TimelineSlot[] => tally.all(spec),
    /** For what was sent in each interval: the median of the time until it could be searched. */
    listMedians: (spec: TimelineSpec): MedianSlot[] => medians.all(spec),
  }
}
