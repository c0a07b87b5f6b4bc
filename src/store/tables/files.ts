import type Database from 'better-sqlite3'
import { isRefusedRow } from '../../foundation/sqlite/open-database.ts'
import { quarantineEnds } from '../../rules/retry-delay.ts'
import { FILE_PATH, onlyRow } from '../sql.ts'
import type { ContentRow } from './contents.ts'
import type { MirrorKey } from './mirrors.ts'

const MAX_NAMES = 50

/** Numbers are bigint, because nanoseconds exceed the precision of a number. */
export type ComparedRow = readonly [
  name: string,
  size: bigint,
  mtimeNs: bigint,
  ctimeNs: bigint,
  inode: bigint,
  isRacy: bigint,
]

/** A file whose content is not stored yet, or which was not marked as received since. */
export interface OpenFile extends Pick<ContentRow, 'sha256' | 'mime' | 'size' | 'state' | 'retryAt'> {
  readonly directoryId: number
  readonly directory: string
  readonly name: string
  readonly isDirectoryCreated: number
  readonly contentId: number
}

export interface OpenFileCursor {
  readonly directoryId: number
  readonly name: string
}

export const OPEN_FILES_START: OpenFileCursor = { directoryId: 0, name: '' }

export type HistoryReason = 'changed' | 'gone' | 'ignored'

/** `gone` has the missing files of the current scan, `fresh` the contents that got a new path since the last complete scan. */
export const SCAN_TABLES = `
  CREATE TEMP TABLE gone (directory_id INTEGER, name TEXT, content_id INTEGER, reason TEXT,
    PRIMARY KEY (directory_id, name)) WITHOUT ROWID;
  CREATE TEMP TABLE fresh (mirror_id INTEGER NOT NULL, content_id INTEGER NOT NULL, is_earlier INTEGER NOT NULL DEFAULT 0);`

export function prepareFiles(database: Database.Database) {
  return { ...prepareScanning(database), ...prepareGone(database), ...prepareOpen(database) }
}

function prepareScanning(database: Database.Database) {
  const compared = `SELECT f.name, f.size, f.mtime_ns, f.ctime_ns, f.inode, f.is_racy
    FROM directory d JOIN file f ON f.directory_id = d.id WHERE d.mirror_id = ? AND d.path = ?`
  const compare = database.prepare<[number, string], ComparedRow>(compared).raw().safeIntegers()
  const compareOne = database
    .prepare<[number, string, string], ComparedRow>(`${compared} AND f.name = ?`)
    .raw()
    .safeIntegers()
  const find = database.prepare<[number, string], { contentId: number; isReceived: number }>(
    'SELECT content_id AS contentId, is_received AS isReceived FROM file WHERE directory_id = ? AND name = ?',
  )
  const count = database.prepare<[number], { n: number }>(
    'SELECT count(*) AS n FROM file f JOIN directory d ON d.id = f.directory_id WHERE d.mirror_id = ?',
  )
  return {
    listForCompare: (mirrorId: number, path: string): ComparedRow[] => compare.all(mirrorId, path),
    findForCompare: (mirrorId: number, path: string, name: string): ComparedRow | undefined =>
      compareOne.get(mirrorId, path, name),
    find: (directoryId: number, name: string) => find.get(directoryId, name),
    count: (mirrorId: number): number => onlyRow(count.get(mirrorId)).n,
  }
}

function prepareGone(database: Database.Database) {
  const mark = database.prepare<[HistoryReason, number, string]>(
    'INSERT OR IGNORE INTO temp.gone SELECT directory_id, name, content_id, ? FROM file WHERE directory_id = ? AND name = ?',
  )
  const markAll = database.prepare<[HistoryReason, number]>(
    'INSERT OR IGNORE INTO temp.gone SELECT directory_id, name, content_id, ? FROM file WHERE directory_id = ?',
  )
  const goneCount = database.prepare<[], { all: number; leftOut: number }>(
    `SELECT count(*) AS "all", coalesce(sum(reason = 'ignored'), 0) AS leftOut FROM temp.gone`,
  )
  const movedCount = database.prepare<[number], { now: number; ever: number; found: number }>(
    `SELECT coalesce(sum(min(g.n, f.now)), 0) AS now, coalesce(sum(min(g.n, f.ever)), 0) AS ever,
            coalesce(sum(min(g.lost, f.ever)), 0) AS found
     FROM (SELECT content_id, count(*) AS n, sum(reason <> 'ignored') AS lost FROM temp.gone GROUP BY 1) g
     JOIN (SELECT content_id, sum(1 - is_earlier) AS now, count(*) AS ever FROM temp.fresh WHERE mirror_id = ? GROUP BY 1) f
       USING (content_id)`,
  )
  const makeEarlier = database.prepare<[number]>('UPDATE temp.fresh SET is_earlier = 1 WHERE mirror_id = ?')
  const forgetFresh = database.prepare<[number]>('DELETE FROM temp.fresh WHERE mirror_id = ?')
  const keepHistory = database.prepare<[number]>(
    `INSERT OR REPLACE INTO history (mirror_id, path, content_id, reason, ended_at)
     SELECT d.mirror_id, iif(d.path = '', g.name, d.path || '/' || g.name), g.content_id, g.reason, ?
     FROM temp.gone g JOIN directory d ON d.id = g.directory_id JOIN content c ON c.id = g.content_id
     WHERE c.state <> 'new'`,
  )
  const removeGone = database.prepare<[]>(
    'DELETE FROM file WHERE (directory_id, name) IN (SELECT directory_id, name FROM temp.gone)',
  )
  const addToHistory = database.prepare<[number, string, number, HistoryReason, number]>(
    'INSERT OR REPLACE INTO history (mirror_id, path, content_id, reason, ended_at) VALUES (?, ?, ?, ?, ?)',
  )
  return {
    markGone: (directoryId: number, name: string, reason: HistoryReason) => void mark.run(reason, directoryId, name),
    markDirectoryGone: (directoryId: number, reason: HistoryReason) => void markAll.run(reason, directoryId),
    /** `leftOut` of the gone files are on disk, but a rule leaves them out. */
    countGone: (): { all: number; leftOut: number } => onlyRow(goneCount.get()),
    /**
     * Counts gone files whose content has a new path: `now`, a path found in this scan; `ever`, one since the last complete scan; `found`,
     * like `ever`, without files that a rule leaves out.
     */
    countMoved: (mirrorId: number): { now: number; ever: number; found: number } => onlyRow(movedCount.get(mirrorId)),
    /** Removes the rows of gone files, and keeps the paths of sent contents as history. */
    removeGone: (nowMs: number): void => {
      keepHistory.run(nowMs)
      removeGone.run()
    },
    addHistory: (mirrorId: number, path: string, contentId: number, reason: HistoryReason, nowMs: number) =>
      void addToHistory.run(mirrorId, path, contentId, reason, nowMs),
    /** Clears the marks of gone files; new paths so far count as found by an earlier scan. */
    beginScan: (mirrorId: number): void => {
      database.exec('DELETE FROM temp.gone')
      makeEarlier.run(mirrorId)
    },
    /** New paths so far are no longer targets of moves. */
    endScan: (mirrorId: number) => void forgetFresh.run(mirrorId),
  }
}

function prepareOpen(database: Database.Database) {
  // CROSS JOIN fixes the order of the loops, so that each page continues in the index.
  const columns = `f.directory_id AS directoryId, d.path AS directory, f.name, d.created_at IS NOT NULL AS isDirectoryCreated,
    c.id AS contentId, c.sha256, c.mime, c.size, c.state, c.retry_at AS retryAt`
  const open = database.prepare<[number, number, string, number], OpenFile>(
    `SELECT ${columns}
     FROM file f INDEXED BY file_open CROSS JOIN directory d ON d.id = f.directory_id
       CROSS JOIN content c ON c.id = f.content_id
     WHERE f.is_received = 0 AND d.mirror_id = ? AND (f.directory_id, f.name) > (?, ?)
     ORDER BY f.directory_id, f.name LIMIT ?`,
  )
  const openCopies = database.prepare<[number, number, number, string, number], OpenFile>(
    `SELECT ${columns}
     FROM file f INDEXED BY file_by_content JOIN directory d ON d.id = f.directory_id JOIN content c ON c.id = f.content_id
     WHERE f.content_id = ? AND f.is_received = 0 AND d.mirror_id = ? AND (f.directory_id, f.name) > (?, ?)
     ORDER BY f.directory_id, f.name LIMIT ?`,
  )
  const sendable = database.prepare<[number, number, number], { found: number }>(
    `SELECT 1 AS found FROM file f INDEXED BY file_open CROSS JOIN directory d ON d.id = f.directory_id
       CROSS JOIN content c ON c.id = f.content_id
     WHERE f.is_received = 0 AND d.mirror_id = ?
       AND (c.state IN ('new', 'stored') OR (c.state = 'refused' AND c.is_set_aside = 0
            AND coalesce(c.retry_at, 0) NOT BETWEEN ? AND ?)) LIMIT 1`,
  )
  const receiveAll = database.prepare<[number]>(
    'UPDATE file SET is_received = 1 WHERE content_id = ? AND is_received = 0',
  )
  const copies = database.prepare<[number], { n: number }>('SELECT count(*) AS n FROM file WHERE content_id = ?')
  const names = database
    .prepare<[number], string>(`SELECT DISTINCT name FROM file WHERE content_id = ? ORDER BY name LIMIT ${MAX_NAMES}`)
    .pluck()
  return {
    listOpen: (mirrorId: number, cursor: OpenFileCursor, limit: number): OpenFile[] =>
      open.all(mirrorId, cursor.directoryId, cursor.name, limit),
    listOpenCopies: (mirrorId: number, contentId: number, cursor: OpenFileCursor, limit: number): OpenFile[] =>
      openCopies.all(contentId, mirrorId, cursor.directoryId, cursor.name, limit),
    /** Returns whether an open file can be uploaded now, or has a stored content. */
    hasSendable: (mirrorId: number, nowMs: number): boolean =>
      sendable.get(mirrorId, ...quarantineEnds(nowMs)) !== undefined,
    receiveAll: (contentId: number): number => receiveAll.run(contentId).changes,
    countCopies: (contentId: number): number => onlyRow(copies.get(contentId)).n,
    listNames: (contentId: number): string[] => names.all(contentId),
  }
}

/** A file as a scan found it. `previous` is its row so far. */
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

export function prepareScannedFiles(database: Database.Database) {
  const find = database
    .prepare<[Uint8Array, Uint8Array, string, number], number>(
      'SELECT id FROM content WHERE substr(sha256, 1, 8) = ? AND sha256 = ? AND mime = ? AND library_id = ?',
    )
    .pluck()
  const addContent = database.prepare<[number, Uint8Array, string, number]>(
    'INSERT INTO content (library_id, sha256, mime, size) VALUES (?, ?, ?, ?)',
  )
  // Tried first: nearly all files are new, and a statement that may replace a row journals every page that it changes.
  const addFile = database.prepare<FileValues>('INSERT OR IGNORE INTO file VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)')
  const replaceFile = database.prepare<FileValues>('INSERT OR REPLACE INTO file VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)')
  const addFresh = database.prepare<[number, number]>('INSERT INTO temp.fresh (mirror_id, content_id) VALUES (?, ?)')
  const removeContent = database.prepare<[number]>('DELETE FROM content WHERE id = ?')
  const lastContent = database.prepare<[], number>('SELECT coalesce(max(id), 0) FROM content').pluck()
  return {
    /** Returns 0 if there is no content. */
    lastContentId: (): number => onlyRow(lastContent.get()),
    /**
     * Returns the id of the file's content; undefined if the database refuses the row. A new path of a content with an id up to
     * `lastContentId` may be the target of a move.
     */
    record: (mirror: MirrorKey, { previous, ...file }: ScannedRow, lastContentId: number): number | undefined => {
      const { directoryId, name, size, mtimeNs, ctimeNs, inode, isRacy, sha256, mime } = file
      const existingId = find.get(sha256.subarray(0, 8), sha256, mime, mirror.library.id)
      let contentId = existingId
      try {
        contentId ??= Number(addContent.run(mirror.library.id, sha256, mime, size).lastInsertRowid)
        const isReceived = previous?.contentId === contentId ? previous.isReceived : 0
        const racy = Number(isRacy)
        const values: FileValues = [directoryId, name, size, mtimeNs, ctimeNs, inode, racy, contentId, isReceived]
        if (previous || addFile.run(...values).changes === 0) replaceFile.run(...values)
      } catch (error) {
        if (!isRefusedRow(error)) throw error
        if (existingId === undefined && contentId !== undefined) removeContent.run(contentId)
        return undefined
      }
      if (!previous && contentId <= lastContentId) addFresh.run(mirror.id, contentId)
      return contentId
    },
  }
}

/** Files that a halted scan found instead of all files of the mirror. `temp.gone` has the files that the current scan misses. */
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
    /** Adds the files that the scan found; they count as files of the mirror once a scan ends well. */
    addFound: (mirrorId: number) => void add.run(mirrorId),
    /** `gone` of all are missing in the current scan. */
    count: (mirrorId: number): { all: number; gone: number } => onlyRow(count.get(mirrorId)),
    clear: (mirrorId: number) => void clear.run(mirrorId),
    /** Lists at most `limit` missing paths, and paths of the files found instead. */
    listExamples: (mirrorId: number, limit: number): { gone: string[]; there: string[] } => ({
      gone: gone.all(limit),
      there: there.all(mirrorId, limit),
    }),
  }
}
