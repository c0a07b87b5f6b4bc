import type Database from 'better-sqlite3'
import { FILE_PATH, onlyRow } from '../sql.ts'
import type { MirrorKey } from './contents.ts'

/** A file of a known directory that was hashed; `previous` is its row until now. */
interface ScannedRow {
  readonly directoryId: number
  readonly name: string
  readonly size: number
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
  readonly inode: bigint
  readonly isRacy: boolean
  readonly sha256: Uint8Array
  readonly mime: string
  readonly previous: { readonly contentId: number; readonly isReceived: number } | undefined
}

type FileValues = [number, string, number, bigint, bigint, bigint, number, number, number]

/** Queries that record hashed files with their contents, which are new if nobody had them. */
export function prepareScannedFiles(database: Database.Database) {
  const find = database
    .prepare<[Uint8Array, Uint8Array, string, number], number>(
      'SELECT id FROM content WHERE substr(sha256, 1, 8) = ? AND sha256 = ? AND mime = ? AND library_id = ?',
    )
    .pluck()
  const addContent = database.prepare<[number, Uint8Array, string, number]>(
    'INSERT INTO content (library_id, sha256, mime, size) VALUES (?, ?, ?, ?)',
  )
  // Nearly all files are new, and a statement that may replace a row journals every page that it changes.
  const addFile = database.prepare<FileValues>('INSERT OR IGNORE INTO file VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)')
  const replaceFile = database.prepare<FileValues>('INSERT OR REPLACE INTO file VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)')
  const addFresh = database.prepare<[number, number]>('INSERT INTO temp.fresh (mirror_id, content_id) VALUES (?, ?)')
  const lastContent = database.prepare<[], number>('SELECT coalesce(max(id), 0) FROM content').pluck()
  return {
    /** The id of the newest content; 0 when there is none. */
    lastContentId: (): number => onlyRow(lastContent.get()),
    /**
     * Records a file with its content, and returns the content's id. A new path of a content that was there before, up to
     * `lastContentId`, may be the target of a move.
     */
    record: (mirror: MirrorKey, { previous, ...file }: ScannedRow, lastContentId: number): number => {
      const { directoryId, name, size, mtimeNs, ctimeNs, inode, isRacy, sha256, mime } = file
      const known = find.get(sha256.subarray(0, 8), sha256, mime, mirror.library.id)
      const contentId = known ?? Number(addContent.run(mirror.library.id, sha256, mime, size).lastInsertRowid)
      const isReceived = previous?.contentId === contentId ? previous.isReceived : 0
      const racy = Number(isRacy)
      const values: FileValues = [directoryId, name, size, mtimeNs, ctimeNs, inode, racy, contentId, isReceived]
      if (previous || addFile.run(...values).changes === 0) replaceFile.run(...values)
      if (!previous && contentId <= lastContentId) addFresh.run(mirror.id, contentId)
      return contentId
    },
  }
}

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
    addFound: (mirrorId: number) => void add.run(mirrorId),
    /** Counts the files that wait; `gone` of them the present scan has missed. */
    count: (mirrorId: number): { all: number; gone: number } => onlyRow(count.get(mirrorId)),
    /** A scan ended well. */
    clear: (mirrorId: number) => void clear.run(mirrorId),
    /** At most `limit` paths that the scan has missed, and of those that it found in their place. */
    exampleOf: (mirrorId: number, limit: number): { gone: string[]; there: string[] } => ({
      gone: gone.all(limit),
      there: there.all(mirrorId, limit),
    }),
  }
}
