import Database from 'better-sqlite3'
import type { ShownState } from '../contract/report-classes.ts'
import { onlyRow } from './sql.ts'

export interface SnapshotRow {
  readonly path: string | null
  readonly class: ShownState
  readonly reason: string | null
  readonly sizeBytes: number | null
  readonly resourceId: string | null
}

interface RowFilter {
  readonly classes: readonly ShownState[]
  /** Paths with this text, in upper or lower case. */
  readonly text: string
  /** A directory; empty: all paths. */
  readonly below: string
}

export interface ClassTally {
  readonly class: ShownState
  readonly n: number
}

export type ReportSnapshot = ReturnType<typeof createReportSnapshot>

/** SQLite deletes the file of a database without a name when it is closed. */
const TEMPORARY = ''

const COLUMNS = 'path, class, reason, size AS sizeBytes, resource_id AS resourceId'

/** Paths below a directory sort between `DIRECTORY/` and `DIRECTORY0`, because `0` follows `/`. */
const IS_BELOW = "(@below = '' OR (path > @below || '/' AND path < @below || '0'))"

const IS_WANTED = `${IS_BELOW} AND (@text = '' OR instr(folded, @text) > 0)`

type Bound = Pick<RowFilter, 'below' | 'text'>

function bound({ below, text }: RowFilter): Bound {
  return { below, text: text.toLowerCase() }
}

/** Holds the rows of a report in memory, and beyond some size in a temporary file. */
export function createReportSnapshot() {
  const database = new Database(TEMPORARY)
  database.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
    CREATE TABLE entry (n INTEGER PRIMARY KEY, path TEXT, folded TEXT, class TEXT NOT NULL, reason TEXT, size INTEGER, resource_id TEXT);
    CREATE INDEX entry_by_path ON entry (path)`)
  return { ...prepareRows(database), ...prepareTree(database), [Symbol.dispose]: () => void database.close() }
}

function prepareRows(database: Database.Database) {
  const insert = database.prepare<[string | null, string | null, string, string | null, number | null, string | null]>(
    'INSERT INTO entry (path, folded, class, reason, size, resource_id) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const tally = database.prepare<Bound, ClassTally>(
    `SELECT class, count(*) AS n FROM entry WHERE ${IS_WANTED} GROUP BY class`,
  )
  const list = database.prepare<Bound & { classes: string; offset: number; limit: number }, SnapshotRow>(
    `SELECT ${COLUMNS} FROM entry WHERE ${IS_WANTED}
       AND (@classes = '[]' OR class IN (SELECT value FROM json_each(@classes)))
     ORDER BY path, n LIMIT @limit OFFSET @offset`,
  )
  return {
    add: database.transaction((rows: Iterable<SnapshotRow>): void => {
      for (const { path, class: name, reason, sizeBytes, resourceId } of rows) {
        insert.run(path, path?.toLowerCase() ?? null, name, reason, sizeBytes, resourceId)
      }
    }),
    /** Counts rows by class, and ignores the classes of the filter. */
    tally: (filter: RowFilter): ClassTally[] => tally.all(bound(filter)),
    list: (filter: RowFilter, page: { readonly offset: number; readonly limit: number }): SnapshotRow[] =>
      list.all({ ...bound(filter), classes: JSON.stringify(filter.classes), ...page }),
  }
}

function prepareTree(database: Database.Database) {
  const rest = "substr(path, iif(@below = '', 1, length(@below) + 2))"
  const directories = database.prepare<{ below: string }, ClassTally & { name: string }>(
    `SELECT substr(rest, 1, instr(rest, '/') - 1) AS name, class, count(*) AS n
     FROM (SELECT ${rest} AS rest, class FROM entry WHERE ${IS_BELOW})
     WHERE instr(rest, '/') > 0 GROUP BY 1, 2 ORDER BY 1, 2`,
  )
  const isHere = `path IS NOT NULL AND ${IS_BELOW} AND instr(${rest}, '/') = 0`
  const files = database.prepare<{ below: string; limit: number }, SnapshotRow>(
    `SELECT ${COLUMNS} FROM entry WHERE ${isHere} ORDER BY path, n LIMIT @limit`,
  )
  const count = database.prepare<{ below: string }, { n: number }>(`SELECT count(*) AS n FROM entry WHERE ${isHere}`)
  return {
    tallyDirectories: (below: string) => directories.all({ below }),
    listFiles: (below: string, limit: number): SnapshotRow[] => files.all({ below, limit }),
    countFiles: (below: string): number => onlyRow(count.get({ below })).n,
  }
}
