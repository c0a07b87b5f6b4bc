import type Database from 'better-sqlite3'
import { FILE_PATH } from '../sql/file-path.ts'
import { onlyRow } from '../sql/only-row.ts'

export type UnconfirmedQueries = ReturnType<typeof prepareUnconfirmed>

/** Queries on files that a halted scan found in the place of all others; `temp.gone` has the files that the present scan misses. */
export function prepareUnconfirmed(database: Database.Database) {
  const isGone = (row: string) =>
    `EXISTS (SELECT 1 FROM temp.gone g WHERE g.directory_id = ${row}.directory_id AND g.name = ${row}.name)`
  const add = database.prepare<[number]>(
    `INSERT OR IGNORE INTO unconfirmed SELECT d.mirror_id, f.directory_id, f.name
     FROM directory d JOIN file f ON f.directory_id = d.id WHERE d.mirror_id = ? AND NOT ${isGone('f')}`,
  )
  const count = database.prepare<[number], { all: number; gone: number }>(
    `SELECT count(*) AS "all", coalesce(sum(${isGone('u')}), 0) AS gone FROM unconfirmed u WHERE u.mirror_id = ?`,
  )
  const clear = database.prepare<[number]>('DELETE FROM unconfirmed WHERE mirror_id = ?')
  const gone = database
    .prepare<[number], string>(
      `SELECT ${FILE_PATH} FROM temp.gone f JOIN directory d ON d.id = f.directory_id WHERE f.reason <> 'ignored' ORDER BY 1 LIMIT ?`,
    )
    .pluck()
  const there = database
    .prepare<[number, number], string>(
      `SELECT ${FILE_PATH} FROM unconfirmed f JOIN directory d ON d.id = f.directory_id WHERE f.mirror_id = ? ORDER BY 1 LIMIT ?`,
    )
    .pluck()
  return {
    /** Every file of the mirror that the scan has not missed waits for a scan that ends well. */
    addFound: (mirrorId: number): void => {
      add.run(mirrorId)
    },
    /** Counts the files that wait; `gone` of them the present scan has missed. */
    count: (mirrorId: number): { all: number; gone: number } => onlyRow(count.get(mirrorId)),
    /** A scan ended well. */
    clear: (mirrorId: number): void => {
      clear.run(mirrorId)
    },
    /** At most `limit` paths that the scan has missed, and of those that it found in their place. */
    exampleOf: (mirrorId: number, limit: number): { gone: string[]; there: string[] } => ({
      gone: gone.all(limit),
      there: there.all(mirrorId, limit),
    }),
  }
}
