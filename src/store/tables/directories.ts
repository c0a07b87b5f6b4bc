import type Database from 'better-sqlite3'
import { onlyRow } from '../sql.ts'

export interface DirectoryRow {
  readonly id: number
  readonly path: string
}

/** Paths below a directory sort between `DIRECTORY/` and `DIRECTORY0`, because `0` follows `/`. */
export const IS_BELOW = `iif(@path = '', d.path <> '', d.path > @path || '/' AND d.path < @path || '0')`

export function prepareDirectories(database: Database.Database) {
  const find = database.prepare<[number, string], { id: number }>(
    'SELECT id FROM directory WHERE mirror_id = ? AND path = ?',
  )
  const get = database.prepare<[number, string], { id: number; createdAt: number | null }>(
    'SELECT id, created_at AS createdAt FROM directory WHERE mirror_id = ? AND path = ?',
  )
  const belowCount = database.prepare<{ mirrorId: number; path: string }, { n: number }>(
    `SELECT count(*) AS n FROM directory d WHERE d.mirror_id = @mirrorId AND ${IS_BELOW}`,
  )
  const insert = database.prepare<[number, string], { id: number }>(
    'INSERT INTO directory (mirror_id, path) VALUES (?, ?) RETURNING id',
  )
  const all = database.prepare<[number], DirectoryRow>(
    'SELECT id, path FROM directory WHERE mirror_id = ? ORDER BY path',
  )
  const pending = database
    .prepare<[number], string>('SELECT path FROM directory WHERE mirror_id = ? AND created_at IS NULL ORDER BY path')
    .pluck()
  const pendingHolders = database
    .prepare<[number], string>(
      `SELECT path FROM directory d WHERE mirror_id = ? AND created_at IS NULL
       AND EXISTS (SELECT 1 FROM file WHERE directory_id = d.id) ORDER BY path`,
    )
    .pluck()
  const markCreated = database.prepare<[number, number, string]>(
    'UPDATE directory SET created_at = ? WHERE mirror_id = ? AND path = ?',
  )
  const markPending = database.prepare<{ mirrorId: number; path: string }>(
    `UPDATE directory AS d SET created_at = NULL WHERE d.mirror_id = @mirrorId AND d.created_at IS NOT NULL
     AND (d.path = '' OR d.path = @path OR substr(@path, 1, length(d.path) + 1) = d.path || '/' OR ${IS_BELOW})`,
  )
  const findDigest = database
    .prepare<[number, string], Buffer | null>('SELECT digest FROM directory WHERE mirror_id = ? AND path = ?')
    .pluck()
  const setDigest = database.prepare<[Uint8Array | null, number]>('UPDATE directory SET digest = ? WHERE id = ?')
  const remove = database.prepare<[number]>('DELETE FROM directory WHERE id = ?')
  return {
    find: (mirrorId: number, path: string): number | undefined => find.get(mirrorId, path)?.id,
    get: (mirrorId: number, path: string): { id: number; createdAt: number | null } | undefined =>
      get.get(mirrorId, path),
    countBelow: (mirrorId: number, path: string): number => onlyRow(belowCount.get({ mirrorId, path })).n,
    ensure: (mirrorId: number, path: string): number =>
      (find.get(mirrorId, path) ?? onlyRow(insert.get(mirrorId, path))).id,
    list: (mirrorId: number): DirectoryRow[] => all.all(mirrorId),
    /** Lists directories that are not recorded as created in the library, parents before children. */
    listPending: (mirrorId: number): string[] => pending.all(mirrorId),
    /** Like `listPending`, but only directories that hold files. */
    listPendingHolders: (mirrorId: number): string[] => pendingHolders.all(mirrorId),
    /** Takes the path, because by now another directory may have the id. */
    markCreated: (mirrorId: number, path: string, nowMs: number) => void markCreated.run(nowMs, mirrorId, path),
    /** Undoes `markCreated` of the directory and of all directories above and below it. */
    markPending: (mirrorId: number, path: string) => void markPending.run({ mirrorId, path }),
    /** Returns null unless the rows prove that all files of the directory are unchanged. */
    findDigest: (mirrorId: number, path: string): Buffer | null => findDigest.get(mirrorId, path) ?? null,
    setDigest: (directoryId: number, digest: Uint8Array | null) => void setDigest.run(digest, directoryId),
    remove: (directoryId: number) => void remove.run(directoryId),
  }
}
