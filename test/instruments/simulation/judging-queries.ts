/** What judges ask of the store. */
import type Database from 'better-sqlite3'

export function prepareJudging(database: Database.Database) {
  const holding = database.prepare<[string], { found: 1 }>('SELECT 1 AS found FROM content WHERE resource_id = ?')
  const resource = database.prepare<[Buffer, string], { id: string | null }>(
    'SELECT resource_id AS id FROM content WHERE sha256 = ? AND mime = ?',
  )
  const quarantine = database.prepare<[Buffer, string], { at: number | null }>(
    `SELECT retry_at AS at FROM content
     WHERE sha256 = ? AND mime = ? AND problem_code IS NOT NULL AND state <> 'stored'`,
  )
  const intents = database.prepare<[string, string], { n: number }>(
    `SELECT count(*) AS n FROM upload u JOIN content c ON c.id = u.content_id
     WHERE u.ended_at IS NULL AND c.state IN ('sending', 'stored') AND (u.path = ? OR u.path LIKE '%/' || ?)`,
  )
  const allIntents = database.prepare<[], { n: number }>('SELECT count(*) AS n FROM upload')
  const files = database.prepare<[], { n: number }>(
    'SELECT (SELECT count(*) FROM file) - (SELECT count(*) FROM unconfirmed) AS n',
  )
  const paths = database.prepare<[], { path: string }>(
    `SELECT iif(d.path = '', f.name, d.path || '/' || f.name) AS path FROM file f JOIN directory d ON d.id = f.directory_id`,
  )
  const unsent = database.prepare<[], { path: string }>(
    `SELECT iif(d.path = '', f.name, d.path || '/' || f.name) AS path
     FROM file f JOIN directory d ON d.id = f.directory_id JOIN content c ON c.id = f.content_id
     WHERE f.is_received = 0 AND c.state <> 'stored'`,
  )
  const doubts = database.prepare<[], { n: number }>(
    `SELECT count(*) AS n FROM content c
     WHERE c.state IN ('sending', 'doubt') AND EXISTS (SELECT 1 FROM file f WHERE f.content_id = c.id)`,
  )
  const mostInADay = database.prepare<[], { n: number | null }>(
    `SELECT max((SELECT count(*) FROM upload later WHERE later.begun_at >= u.begun_at AND later.begun_at < u.begun_at + 86400000
       AND coalesce(later.outcome, 'doubt') <> 'not-sent')) AS n FROM upload u`,
  )
  const named = database.prepare<[], { path: string }>(
    `SELECT iif(d.path = '', f.name, d.path || '/' || f.name) AS path FROM file f
       JOIN directory d ON d.id = f.directory_id JOIN content c ON c.id = f.content_id
     WHERE c.problem_code IS NOT NULL OR c.state IN ('sending', 'doubt')
     UNION SELECT path FROM problem`,
  )
  return {
    holdsResource: (id: string): boolean => holding.get(id) !== undefined,
    findResource: (sha256: string, mime: string): string | undefined =>
      resource.get(Buffer.from(sha256, 'hex'), mime)?.id ?? undefined,
    /** Until when nothing is tried with a content, on the wall clock; 0: it may be. */
    quarantineOf: (sha256: string, mime: string): number => quarantine.get(Buffer.from(sha256, 'hex'), mime)?.at ?? 0,
    countIntents: (fileName: string): number => intents.get(fileName, fileName)?.n ?? 0,
    /** All that there ever were. */
    countAllIntents: (): number => allIntents.get()?.n ?? 0,
    /** Without those of a halted scan. */
    countFiles: (): number => files.get()?.n ?? 0,
    /** Contents of files of which nobody knows whether they arrived. */
    countDoubts: (): number => doubts.get()?.n ?? 0,
    /** A file that was scanned and whose content is not at the service; undefined: there is none. */
    findUnsent: (): string | undefined => unsent.get()?.path,
    /** The most uploads within 24 hours of the wall clock that may have left the machine. */
    mostInADay: (): number => mostInADay.get()?.n ?? 0,
    /** Paths of all known files. */
    listPaths: (): string[] => paths.all().map(({ path }) => path),
    /** Paths that the program reports as not stored at the service. */
    listNamed: (): string[] => named.all().map(({ path }) => path),
  }
}
