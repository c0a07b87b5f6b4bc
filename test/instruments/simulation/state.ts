import { join } from 'node:path'
import type Database from 'better-sqlite3'
import type { Statement } from 'better-sqlite3'
import { PlannedDatabase } from '../../../src/foundation/sqlite/open-database.ts'
import { openStore, prepareQueries, type Store, type StoreQueries } from '../../../src/store/open-store.ts'
import { prepareUploads } from '../../../src/store/tables/uploads.ts'
import { prepareDump } from '../../support/dump-store.ts'
import type { Life } from './life.ts'

/** The real store on real SQLite, opened once for many runs: each run is one transaction that is rolled back at its end. */

const PLENTY_BYTES = 2 ** 40

export class SimulatedState implements Disposable {
  readonly queries: StoreQueries
  readonly judging: ReturnType<typeof prepareJudging>
  readonly #database: PlannedDatabase
  /** The database, which compiles each statement once, however often a process begins. */
  readonly #preparedOnce: PlannedDatabase
  readonly #emptyTemporary: readonly Statement[]
  readonly #dump: ReturnType<typeof prepareDump>
  readonly #savepoints: Readonly<Record<'begin' | 'keep' | 'undo' | 'beginDurable' | 'keepDurable', Statement>>
  #isRehearsing = false
  #mayLosePower = true

  /** `directory` must not hold a store yet. */
  constructor(directory: string) {
    openStore(directory)[Symbol.dispose]()
    this.#database = copyIntoMemory(join(directory, 'store.db'))
    this.#database.pragma('foreign_keys = ON')
    this.#preparedOnce = preparedOnce(this.#database)
    this.queries = prepareQueries(this.#database)
    this.judging = prepareJudging(this.#database)
    this.#dump = prepareDump(this.#database)
    const database = this.#database
    this.#emptyTemporary = database
      .prepare<[], { name: string }>("SELECT name FROM temp.sqlite_schema WHERE type = 'table'")
      .all()
      .map(({ name }) => database.prepare(`DELETE FROM temp.${name}`))
    this.#savepoints = {
      begin: database.prepare('SAVEPOINT work'),
      keep: database.prepare('RELEASE work'),
      undo: database.prepare('ROLLBACK TO work'),
      beginDurable: database.prepare('SAVEPOINT durable'),
      keepDurable: database.prepare('RELEASE durable'),
    }
  }

  /** Begins a world in which nothing was ever stored. Without `mayLosePower`, no power cut will happen in it, and nothing is kept for one. */
  begin({ mayLosePower = true } = {}): void {
    this.#mayLosePower = mayLosePower
    this.#database.exec('BEGIN IMMEDIATE; SAVEPOINT durable')
  }

  end(): void {
    this.#database.exec('ROLLBACK')
    this.#isRehearsing = false
  }

  /** What a killed process leaves behind: its open transactions are gone. */
  recover(): void {
    if (this.#isRehearsing) this.#database.exec('ROLLBACK TO rehearsal; RELEASE rehearsal')
    this.#isRehearsing = false
  }

  /** What a power cut leaves of the log: everything up to the last commit that waited for the disk. */
  losePower(): void {
    if (!this.#mayLosePower) throw new Error('this world was to have no power cut')
    this.recover()
    this.#database.exec('ROLLBACK TO durable')
  }

  #markDurable(): void {
    this.#savepoints.keepDurable.run()
    this.#savepoints.beginDurable.run()
  }

  /** The store as one life of the program holds it. */
  open(life: Life): Store {
    const commit = <T>(work: () => T, isDurable: boolean): T => {
      life.step('write')
      const result = this.#transact(() => {
        const done = work()
        life.commit()
        return done
      })
      if (isDurable && this.#mayLosePower && !this.#isRehearsing) this.#markDurable()
      life.step('written')
      return result
    }
    const write = <T>(work: () => T): T => commit(work, true)
    // What lies in temporary tables ends with the process.
    for (const statement of this.#emptyTemporary) statement.run()
    write(() => this.queries.contents.markCutOffInDoubt())
    return {
      directory: '/state',
      ...this.queries,
      // What a process knows of its clocks ends with it.
      uploads: prepareUploads(this.#preparedOnce),
      isLocked: () => true,
      mayLackReceipts: () => this.queries.foreign.isAnySearchDue(),
      findChange: () => undefined,
      freeBytes: () => PLENTY_BYTES,
      write,
      writeRelaxed: (work) => commit(work, false),
      rollBackAfter: async (work) => {
        life.step('rehearse')
        this.#database.exec('SAVEPOINT rehearsal')
        this.#isRehearsing = true
        try {
          return await work()
        } finally {
          if (!life.isDead) this.recover()
        }
      },
      [Symbol.dispose]: () => {},
    }
  }

  #transact<T>(work: () => T): T {
    const { begin, keep, undo } = this.#savepoints
    begin.run()
    try {
      const result = work()
      keep.run()
      return result
    } catch (error) {
      undo.run()
      keep.run()
      throw error
    }
  }

  /** Every row of the tables on files and contents, without what each look at something bad changes: how often and until when. */
  dump(): string {
    const looks = new Set(['problem_count', 'problem_message', 'retry_at', 'first_at'])
    return JSON.stringify(this.#dump(), (key, value) => (looks.has(key) ? null : bigintText(key, value)))
  }

  [Symbol.dispose](): void {
    this.#database.close()
  }
}

function bigintText(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}

/** Takes by savepoints what only a power cut could take from a disk; the disk itself would only cost time. */
function copyIntoMemory(file: string): PlannedDatabase {
  const original = new PlannedDatabase(file)
  // A copy in memory can have no log beside it.
  original.pragma('journal_mode = DELETE')
  const copy = new PlannedDatabase(original.serialize())
  original.close()
  return copy
}

function preparedOnce(database: PlannedDatabase): PlannedDatabase {
  const statements = new Map<string, Statement>()
  const prepare = (sql: string) => {
    const statement = statements.get(sql) ?? database.prepare(sql)
    statements.set(sql, statement)
    return statement
  }
  return Object.create(database, { prepare: { value: prepare } })
}

function keyOf(sha256: Buffer, mime: string): string {
  return `${sha256.toString('hex')} ${mime}`
}

/** What judges ask of the store. */

function prepareJudging(database: Database.Database) {
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
     WHERE f.is_received = 0 AND c.state <> 'stored' AND c.problem_code IS NOT 'removed'`,
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
  const holders = database.prepare<[string], { path: string }>(
    `SELECT iif(d.path = '', f.name, d.path || '/' || f.name) AS path FROM file f
       JOIN directory d ON d.id = f.directory_id JOIN content c ON c.id = f.content_id WHERE c.resource_id = ?`,
  )
  const unused = database.prepare<[], { id: string }>(
    `SELECT resource_id AS id FROM content c WHERE state = 'stored' AND is_duplicate = 0
       AND NOT EXISTS (SELECT 1 FROM file f WHERE f.content_id = c.id) AND EXISTS (SELECT 1 FROM history h WHERE h.content_id = c.id)`,
  )
  const withheld = database.prepare<[], { id: number; sha256: Buffer; mime: string }>(
    `SELECT id, sha256, mime FROM content WHERE problem_code = 'removed'`,
  )
  const ofContent = database.prepare<[number], { path: string }>(
    `SELECT iif(d.path = '', f.name, d.path || '/' || f.name) AS path FROM file f
       JOIN directory d ON d.id = f.directory_id WHERE f.content_id = ?`,
  )
  const removals = database.prepare<[], { id: string; sha256: Buffer; mime: string }>(
    'SELECT r.resource_id AS id, c.sha256, c.mime FROM removal r JOIN content c ON c.id = r.content_id',
  )
  return {
    /** Resources whose removal was begun and not ended. */
    listRemovals: () => removals.all().map(({ id, sha256, mime }) => ({ id, key: keyOf(sha256, mime) })),
    /** A known file whose content the program counts as stored under this resource. */
    findHolder: (resourceId: string): string | undefined => holders.get(resourceId)?.path,
    /** What it counts as stored, and no file has. */
    listUnused: (): string[] => unused.all().map(({ id }) => id),
    /** Paths of known files with this content. */
    listFilesOf: (contentId: number): string[] => ofContent.all(contentId).map(({ path }) => path),
    /** Contents whose resources somebody removed. */
    listWithheld: () => withheld.all().map(({ id, sha256, mime }) => ({ id, key: keyOf(sha256, mime) })),
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
