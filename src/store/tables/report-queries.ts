import type Database from 'better-sqlite3'
import { nameOf, parentOf } from '../../foundation/files/paths.ts'
import { WITHOUT_TEXT } from '../../rules/without-text.ts'
import { FILE_PATH, onlyRow, quoted } from '../sql.ts'
import { CONTENT_COLUMNS, type ContentRow } from './contents.ts'
import { IS_BELOW } from './directories.ts'

export interface ListedEntry {
  readonly libraryId: number
  readonly resourceId: string
  readonly directory: string
  readonly filename: string
  readonly title: string
  readonly mime: string
}

export type Listed = Omit<ListedEntry, 'libraryId' | 'title'>

export type FileRow = Omit<ContentRow, 'id'> & {
  readonly contentId: number
  readonly directory: string
  readonly name: string
  readonly isReceived: number
}

/** The hash is text, which takes a fraction of the time and memory of a buffer. */
export type ReportedFile = Omit<
  FileRow,
  'sha256' | 'isReceived' | 'libraryId' | 'isDuplicate' | 'doubts' | 'ingestionSeenAt' | 'failedTries' | 'retryAt'
> & { readonly sha256Hex: string }

/** A file with one of its locations in the library, if it has any. */
export type LocatedFile = ReportedFile & {
  readonly remoteDirectory: string | null
  readonly remoteFilename: string | null
}

export type SupersededRow = ContentRow & { readonly path: string; readonly reason: string }

export interface Copy {
  readonly contentId: number
  readonly path: string
  readonly isUploaded: number
}

export interface FileTally extends Pick<ContentRow, 'state' | 'outcome' | 'isSetAside'> {
  readonly hasProblem: number
  readonly files: number
  readonly withoutText: number
}

export interface StateTally extends FileTally {
  readonly contents: number
}

export interface DirectoryTally {
  readonly path: string
  readonly files: number
  /** 0: if the disk is unchanged, all its files are in sync without a remark. */
  readonly mayDiffer: number
}

/** A stored content with one of its present or former paths. */
export type SentContent = Pick<ContentRow, 'id' | 'sha256' | 'mime' | 'size'> & {
  readonly resourceId: string
  readonly path: string
}

export interface HistoricalContent extends Pick<ContentRow, 'sha256' | 'resourceId' | 'outcome' | 'ingestionNote'> {
  readonly contentId: number
  readonly reason: string
  readonly endedAt: number
}

/** The state of almost all files. */
const PLAIN = { state: 'stored', outcome: 'searchable', isSetAside: 0, hasProblem: 0, withoutText: 0 } as const

export const LISTING_TABLE = `
  CREATE TEMP TABLE listed (library_id INTEGER, resource_id TEXT, directory TEXT, filename TEXT, mime TEXT,
    PRIMARY KEY (library_id, resource_id, directory, filename)) WITHOUT ROWID;`

export function prepareReport(database: Database.Database) {
  return { ...prepareListed(database), ...prepareLocal(database) }
}

function prepareListed(database: Database.Database) {
  // One call for many rows takes half the time.
  const add = database.prepare<[string]>(
    `INSERT OR REPLACE INTO temp.listed
     SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4 FROM json_each(?) ORDER BY 2, key`,
  )
  const locations = database.prepare<[number, string], Listed>(
    `SELECT resource_id AS resourceId, directory, filename, mime
     FROM temp.listed WHERE library_id = ? AND resource_id = ?`,
  )
  const foreign = database
    .prepare<[number], string>(
      `SELECT l.resource_id FROM temp.listed l WHERE l.library_id = ? AND NOT EXISTS
         (SELECT 1 FROM content c WHERE c.library_id = l.library_id AND c.resource_id = l.resource_id)
       GROUP BY l.resource_id ORDER BY min(l.directory), min(l.filename)`,
    )
    .pluck()
  return {
    addListed: (entries: readonly ListedEntry[]): void => {
      const rows = entries.map(({ libraryId, resourceId, directory, filename, mime }) => {
        return [libraryId, resourceId, directory, filename.toWellFormed(), mime.toWellFormed()]
      })
      add.run(JSON.stringify(rows))
    },
    listLocations: (libraryId: number, resourceId: string): Listed[] => locations.all(libraryId, resourceId),
    listForeign: (libraryId: number): string[] => foreign.all(libraryId),
    forgetListed: () => void database.exec('DELETE FROM temp.listed'),
  }
}

function prepareLocal(database: Database.Database) {
  const files = database.prepare<[number], LocatedFile>(
    `SELECT d.path AS directory, f.name, f.content_id AS contentId, lower(hex(c.sha256)) AS sha256Hex, c.mime, c.size,
            c.state, c.resource_id AS resourceId, c.second_location AS secondLocation, c.uploaded_at AS uploadedAt,
            c.searchable_at AS searchableAt, c.outcome, c.ingestion_status AS ingestionStatus,
            c.ingestion_note AS ingestionNote, c.problem_code AS problemCode, c.problem_message AS problemMessage,
            c.is_set_aside AS isSetAside, l.directory AS remoteDirectory, l.filename AS remoteFilename
     FROM directory d JOIN file f ON f.directory_id = d.id JOIN content c ON c.id = f.content_id
     LEFT JOIN temp.listed l ON l.library_id = c.library_id AND l.resource_id = c.resource_id
     WHERE d.mirror_id = ? ORDER BY d.path, f.name`,
  )
  const inDirectory = database.prepare<[number, string], FileRow>(
    `SELECT d.path AS directory, f.name, f.is_received AS isReceived, f.content_id AS contentId,
            ${CONTENT_COLUMNS.replace('c.id,', '')}
     FROM directory d JOIN file f ON f.directory_id = d.id JOIN content c ON c.id = f.content_id
     WHERE d.mirror_id = ? AND d.path = ? ORDER BY f.name`,
  )
  // A stored content without files belongs to the mirror that last had a file of it.
  const superseded = database.prepare<[number], SupersededRow>(
    `SELECT ${CONTENT_COLUMNS}, fo.path, fo.reason, max(fo.ended_at) AS endedAt
     FROM history fo JOIN content c ON c.id = fo.content_id
     WHERE fo.mirror_id = ? AND c.state = 'stored' AND NOT EXISTS (SELECT 1 FROM file f WHERE f.content_id = c.id)
       AND NOT EXISTS (SELECT 1 FROM history later WHERE later.content_id = c.id AND later.mirror_id <> fo.mirror_id
         AND (later.ended_at, later.mirror_id) > (fo.ended_at, fo.mirror_id))
     GROUP BY c.id ORDER BY fo.path`,
  )
  const copyColumns = `f.content_id AS contentId, ${FILE_PATH} AS path,
            EXISTS (SELECT 1 FROM upload u WHERE u.content_id = f.content_id AND u.mirror_id = d.mirror_id
              AND u.path = ${FILE_PATH}) AS isUploaded`
  const original = database.prepare<[number, number], Copy>(
    `SELECT ${copyColumns} FROM file f JOIN directory d ON d.id = f.directory_id
     WHERE f.content_id = ? AND d.mirror_id = ? ORDER BY isUploaded DESC, path LIMIT 1`,
  )
  const copies = database.prepare<[number, number], Copy>(
    `SELECT ${copyColumns} FROM file f JOIN directory d ON d.id = f.directory_id
     WHERE d.mirror_id = ? AND f.content_id IN (
       SELECT f2.content_id FROM file f2 JOIN directory d2 ON d2.id = f2.directory_id
       WHERE d2.mirror_id = ? GROUP BY 1 HAVING count(*) > 1)
     ORDER BY f.content_id, isUploaded DESC, path`,
  )
  const tallyColumns = `c.state, c.outcome, c.is_set_aside AS isSetAside, c.problem_code IS NOT NULL AS hasProblem, count(*) AS files,
            coalesce(sum(c.ingestion_note = '${quoted(WITHOUT_TEXT)}'), 0) AS withoutText`
  const tallied = `SELECT ${tallyColumns}, count(DISTINCT c.id) AS contents
     FROM directory d JOIN file f ON f.directory_id = d.id JOIN content c ON c.id = f.content_id`
  const tally = database.prepare<[number], StateTally>(`${tallied} WHERE d.mirror_id = ? GROUP BY 1, 2, 3, 4`)
  const tallyBelow = database.prepare<{ mirrorId: number; path: string }, StateTally>(
    `${tallied} WHERE d.mirror_id = @mirrorId AND (d.path = @path OR ${IS_BELOW}) GROUP BY 1, 2, 3, 4`,
  )
  const fileCount = database
    .prepare<[number], number>(
      `SELECT CASE WHEN (SELECT count(*) FROM mirror) = 1 THEN (SELECT count(*) FROM file)
         ELSE (SELECT count(*) FROM directory d JOIN file f ON f.directory_id = d.id WHERE d.mirror_id = ?) END`,
    )
    .pluck()
  // CROSS JOIN fixes the order of the loops, so that each part begins with a partial index.
  const ofMirror = 'CROSS JOIN directory d ON d.id = f.directory_id AND d.mirror_id = @mirrorId'
  const receivedFiles = `CROSS JOIN file f INDEXED BY file_by_content ON f.content_id = c.id AND f.is_received = 1 ${ofMirror}`
  const inLibrary = 'c.library_id = (SELECT library_id FROM mirror WHERE id = @mirrorId)'
  const unusual = database.prepare<{ mirrorId: number }, FileTally>(
    `SELECT ${tallyColumns} FROM file f INDEXED BY file_open ${ofMirror} CROSS JOIN content c ON c.id = f.content_id
     WHERE f.is_received = 0 GROUP BY 1, 2, 3, 4
     UNION ALL
     SELECT ${tallyColumns} FROM content c INDEXED BY content_pending ${receivedFiles}
     WHERE ${inLibrary} AND c.outcome = 'pending' GROUP BY 1, 2, 3, 4
     UNION ALL
     SELECT ${tallyColumns} FROM content c INDEXED BY content_unusual ${receivedFiles}
     WHERE ${inLibrary} AND (c.outcome = 'partial' OR c.outcome = 'failed' OR c.outcome = 'unknown' OR c.ingestion_note IS NOT NULL)
       AND c.outcome <> 'pending' GROUP BY 1, 2, 3, 4`,
  )
  // If no part of this query finds a directory, all its files are searchable without remarks, and listed.
  const directories = database.prepare<{ mirrorId: number; wasListed: number }, DirectoryTally>(
    `WITH differing (id) AS (
       SELECT f.directory_id FROM file f INDEXED BY file_open WHERE f.is_received = 0
       UNION
       SELECT d.id FROM content c INDEXED BY content_pending ${receivedFiles} WHERE ${inLibrary} AND c.outcome = 'pending'
       UNION
       SELECT d.id FROM content c INDEXED BY content_unusual ${receivedFiles}
       WHERE ${inLibrary} AND (c.outcome = 'partial' OR c.outcome = 'failed' OR c.outcome = 'unknown' OR c.ingestion_note IS NOT NULL)
       UNION
       SELECT d.id FROM content c INDEXED BY content_by_resource ${receivedFiles}
       WHERE @wasListed AND ${inLibrary} AND c.resource_id IS NOT NULL AND NOT EXISTS
         (SELECT 1 FROM temp.listed l WHERE l.library_id = c.library_id AND l.resource_id = c.resource_id))
     SELECT d.path, d.id IN differing AS mayDiffer, (SELECT count(*) FROM file f WHERE f.directory_id = d.id) AS files
     FROM directory d WHERE d.mirror_id = @mirrorId ORDER BY d.path`,
  )
  const unlisted = database
    .prepare<{ mirrorId: number; libraryId: number; limit: number }, string>(
      `SELECT c.resource_id FROM content c INDEXED BY content_by_resource
       WHERE c.library_id = @libraryId AND c.resource_id IS NOT NULL AND NOT EXISTS
         (SELECT 1 FROM temp.listed l WHERE l.library_id = c.library_id AND l.resource_id = c.resource_id)
       AND EXISTS (SELECT 1 FROM file f JOIN directory d ON d.id = f.directory_id
                   WHERE f.content_id = c.id AND d.mirror_id = @mirrorId) LIMIT @limit`,
    )
    .pluck()
  const pathsOf = database
    .prepare<[number, number, number], string>(
      `SELECT ${FILE_PATH} AS path
       FROM file f JOIN directory d ON d.id = f.directory_id
       WHERE f.content_id = ? AND d.mirror_id = ? ORDER BY path LIMIT ?`,
    )
    .pluck()
  const isSent = `c.library_id = (SELECT library_id FROM mirror WHERE id = @mirrorId) AND c.state = 'stored' AND EXISTS
       (SELECT 1 FROM file f JOIN directory d ON d.id = f.directory_id WHERE f.content_id = c.id AND d.mirror_id = @mirrorId)`
  const sentFiles = database.prepare<{ mirrorId: number; afterId: number; limit: number }, SentContent>(
    `SELECT c.id, c.sha256, c.mime, c.size, c.resource_id AS resourceId,
            (SELECT min(${FILE_PATH})
             FROM file f JOIN directory d ON d.id = f.directory_id WHERE f.content_id = c.id AND d.mirror_id = @mirrorId) AS path
     FROM content c WHERE c.id > @afterId AND ${isSent} ORDER BY c.id LIMIT @limit`,
  )
  const history = database.prepare<[number, string], HistoricalContent>(
    `SELECT c.id AS contentId, c.sha256, c.resource_id AS resourceId, c.outcome,
            c.ingestion_note AS ingestionNote, fo.reason, fo.ended_at AS endedAt
     FROM history fo JOIN content c ON c.id = fo.content_id WHERE fo.mirror_id = ? AND fo.path = ? ORDER BY fo.ended_at`,
  )
  const filesBelow = database.prepare<{ mirrorId: number; path: string; directory: string; name: string }, FileRow>(
    `SELECT d.path AS directory, f.name, f.is_received AS isReceived, f.content_id AS contentId,
            ${CONTENT_COLUMNS.replace('c.id,', '')}
     FROM directory d JOIN file f ON f.directory_id = d.id JOIN content c ON c.id = f.content_id
     WHERE d.mirror_id = @mirrorId AND (d.path = @path OR ${IS_BELOW} OR (d.path = @directory AND f.name = @name))
     ORDER BY d.path, f.name`,
  )
  const named = database
    .prepare<{ mirrorId: number; name: string; end: string }, string>(
      `WITH present (path) AS (SELECT ${FILE_PATH} FROM directory d JOIN file f ON f.directory_id = d.id
         WHERE d.mirror_id = @mirrorId AND f.name = @name)
       SELECT path FROM present WHERE substr('/' || path, -length(@end)) = @end
       UNION SELECT path FROM history WHERE mirror_id = @mirrorId AND substr('/' || path, -length(@end)) = @end
         AND NOT EXISTS (SELECT 1 FROM present) ORDER BY path`,
    )
    .pluck()
  const gone = database.prepare<{ mirrorId: number; path: string }, SentContent>(
    `SELECT c.id, c.sha256, c.mime, c.size, c.resource_id AS resourceId, d.path
     FROM history d JOIN content c ON c.id = d.content_id
     WHERE d.mirror_id = @mirrorId AND d.reason = 'gone' AND c.state = 'stored' AND (d.path = @path OR ${IS_BELOW})
     ORDER BY d.ended_at`,
  )
  return {
    /** Counts files and contents of a mirror by the state of the content; reads each file. */
    tallyStates: (mirrorId: number): StateTally[] => tally.all(mirrorId),
    /** Counts files like `tallyStates`, but reads only those that are not in the state PLAIN. */
    tallyFiles: (mirrorId: number): FileTally[] => {
      const others = unusual.all({ mirrorId })
      const files = others.reduce((remaining, { files: n }) => remaining - n, onlyRow(fileCount.get(mirrorId)))
      return [{ ...PLAIN, files }, ...others]
    },
    tallyStatesBelow: (mirrorId: number, path: string): StateTally[] => tallyBelow.all({ mirrorId, path }),
    listPathsOf: (mirrorId: number, contentId: number, limit: number): string[] =>
      pathsOf.all(contentId, mirrorId, limit),
    /** Lists the contents that a path had before, the oldest first. */
    listHistory: (mirrorId: number, path: string): HistoricalContent[] => history.all(mirrorId, path),
    /** Lists stored contents of a mirror's files in the order of their ids, after `afterId`. */
    listSent: (mirrorId: number, afterId: number, limit: number): SentContent[] =>
      sentFiles.all({ mirrorId, afterId, limit }),
    /** `wasListed`: files whose resource is not listed differ as well. */
    iterateDirectories: (mirrorId: number, wasListed: boolean): IterableIterator<DirectoryTally> =>
      directories.iterate({ mirrorId, wasListed: Number(wasListed) }),
    /** Lists resources of the mirror's files that the listing does not show. */
    listUnlisted: (mirrorId: number, libraryId: number, limit: number): string[] =>
      unlisted.all({ mirrorId, libraryId, limit }),
    /** Iterates over files; one with several locations comes once for each. */
    iterateFiles: (mirrorId: number): IterableIterator<LocatedFile> => files.iterate(mirrorId),
    listFiles: (mirrorId: number, directory: string): FileRow[] => inDirectory.all(mirrorId, directory),
    /** Lists the file of a path, or the files below a directory. */
    listFilesBelow: (mirrorId: number, path: string): FileRow[] =>
      filesBelow.all({ mirrorId, path, directory: parentOf(path), name: nameOf(path) }),
    /** Lists paths of files that end with the names of `path`; if there are none, those of former files. */
    listNamed: (mirrorId: number, path: string): string[] =>
      named.all({ mirrorId, name: nameOf(path), end: `/${path}` }),
    /** Lists contents of files that were removed, in the order of their removal. */
    listGone: (mirrorId: number, path: string): SentContent[] => gone.all({ mirrorId, path }),
    listSuperseded: (mirrorId: number): SupersededRow[] => superseded.all(mirrorId),
    /** Returns the path of the uploaded file of a content, or else its first path. */
    findOriginal: (mirrorId: number, contentId: number): string | undefined => original.get(contentId, mirrorId)?.path,
    /** Iterates over files that share a content; of each content, the uploaded file comes first. */
    iterateCopies: (mirrorId: number): IterableIterator<Copy> => copies.iterate(mirrorId, mirrorId),
  }
}
