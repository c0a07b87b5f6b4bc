import type Database from 'better-sqlite3'
import { FILE_PATH } from '../sql/file-path.ts'
import { onlyRow } from '../sql/only-row.ts'

/** A file of a known directory that was hashed; `previous` is its row until now. */
export interface ObservedRow {
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

/** A file whose content is another one than before. */
export interface ChangedFile {
  readonly path: string
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
  readonly previousContentId: number
}

interface ChangedRow extends Omit<ChangedFile, 'previousContentId'> {
  readonly previousContentId: bigint
}

export type ObservedFileQueries = ReturnType<typeof prepareObservedFiles>

/**
 * Queries that record hashed files, many at once: rows are collected in a temporary table, then merged into files and contents.
 * Merged in the order of their hashes, contents change each page of their index once, which takes half the time of single rows.
 */
export function prepareObservedFiles(database: Database.Database) {
  database.exec(`
    CREATE TEMP TABLE observed (directory_id INTEGER NOT NULL, name TEXT NOT NULL, size INTEGER NOT NULL,
      mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL, inode INTEGER NOT NULL, is_racy INTEGER NOT NULL,
      sha256 BLOB NOT NULL, mime TEXT NOT NULL, previous_content_id INTEGER, was_received INTEGER)`)
  const insert = database.prepare<
    [number, string, number, bigint, bigint, bigint, number, Uint8Array, string, number | null, number | null]
  >('INSERT INTO temp.observed VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
  const lastContent = database.prepare<[], { id: number }>('SELECT coalesce(max(id), 0) AS id FROM content')
  // Numbered in the order of their files, neighbours are uploaded together, so that a commit of receipts changes few pages.
  const addContents = database.prepare<[number, number]>(
    `INSERT INTO content (id, library_id, sha256, mime, size)
     SELECT ? + rowid, ?, sha256, mime, size FROM temp.observed WHERE true
     ORDER BY sha256, mime ON CONFLICT (library_id, sha256, mime) DO NOTHING`,
  )
  // CROSS JOIN fixes the order of the loops, since the planner knows nothing of the size of a temporary table.
  const withContent = `temp.observed o CROSS JOIN content c
    ON c.library_id = @libraryId AND c.sha256 = o.sha256 AND c.mime = o.mime`
  const addFresh = database.prepare<{ libraryId: number; mirrorId: number; lastContentId: number }>(
    `INSERT INTO temp.fresh (mirror_id, content_id) SELECT @mirrorId, c.id FROM ${withContent}
     WHERE o.previous_content_id IS NULL AND c.id <= @lastContentId`,
  )
  const changed = database
    .prepare<{ libraryId: number }, ChangedRow>(
      `SELECT iif(d.path = '', o.name, d.path || '/' || o.name) AS path, o.mtime_ns AS mtimeNs, o.ctime_ns AS ctimeNs,
         o.previous_content_id AS previousContentId
       FROM ${withContent} CROSS JOIN directory d ON d.id = o.directory_id WHERE o.previous_content_id <> c.id`,
    )
    .safeIntegers()
  const addFiles = database.prepare<{ libraryId: number }>(
    `INSERT OR REPLACE INTO file SELECT o.directory_id, o.name, o.size, o.mtime_ns, o.ctime_ns, o.inode, o.is_racy, c.id,
       iif(o.previous_content_id = c.id, o.was_received, 0) FROM ${withContent}`,
  )
  const clear = database.prepare<[]>('DELETE FROM temp.observed')
  return {
    /** Collects a file; `merge` records it, in the same transaction. */
    add: ({ previous, ...file }: ObservedRow): void => {
      const { directoryId, name, size, mtimeNs, ctimeNs, inode, isRacy, sha256, mime } = file
      const [previousContentId, wasReceived] = previous ? [previous.contentId, previous.isReceived] : [null, null]
      const times = [mtimeNs, ctimeNs, inode] as const
      insert.run(directoryId, name, size, ...times, Number(isRacy), sha256, mime, previousContentId, wasReceived)
    },
    /**
     * Records the collected files with their contents, which are new if nobody had them; new paths of contents that were there
     * before may be targets of moves. Returns the files that have another content than before.
     */
    merge: (mirror: { readonly id: number; readonly library: { readonly id: number } }): ChangedFile[] => {
      const libraryId = mirror.library.id
      const lastContentId = onlyRow(lastContent.get()).id
      addContents.run(lastContentId, libraryId)
      if (lastContentId > 0) addFresh.run({ libraryId, mirrorId: mirror.id, lastContentId })
      const changedRows = changed.all({ libraryId })
      addFiles.run({ libraryId })
      clear.run()
      return changedRows.map((row) => ({ ...row, previousContentId: Number(row.previousContentId) }))
    },
  }
}

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
