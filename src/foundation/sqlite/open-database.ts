import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { systemCodeOf } from '../errors.ts'
import { isOwnFile } from '../files/own-file.ts'

export interface DatabaseSpec {
  readonly file: string
  /** The directory of `001-name.sql` …; the last number is the schema version (`PRAGMA user_version`). */
  readonly migrationsDir: string
  /** `PRAGMA application_id`: the kind of database. */
  readonly applicationId: number
  /** Lets a new database give pages back to the disk (`PRAGMA incremental_vacuum`). */
  readonly canShrink?: boolean
  /** How every page is checked first, as after a crash or if the file may have been replaced; undefined if none is. */
  readonly check?: PageCheck | undefined
}

/** `integrity_check` also compares each index with its table, in twice the time. */
type PageCheck = 'quick_check' | 'integrity_check'

const CACHE_KIB = 4 * 1024
const CHECKPOINT_PAGES = 4_096

/** Loads the native part of better-sqlite3 now, instead of with the first database. */
export function loadSqlite(): void {
  new Database(':memory:').close()
}

export type DatabaseFault = 'newer' | 'damaged' | 'foreign'

/** The file cannot be used; openDatabase wrote nothing to it. */
export class DatabaseFaultError extends Error {
  readonly fault: DatabaseFault

  constructor(fault: DatabaseFault, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'DatabaseFaultError'
    this.fault = fault
  }
}

/**
 * Opens or creates a database for writing: WAL with `synchronous=FULL` (asserted, since better-sqlite3 uses NORMAL under WAL), files
 * 0600. Backs up an older schema (`<file>.v<N>.bak`) and migrates it in one transaction. Throws DatabaseFaultError for a newer, damaged
 * or foreign database, OperatorError('store-unusable') for anything but a file of ours.
 */
export function openDatabase(spec: DatabaseSpec): Database.Database {
  const isNew = !isDatabaseThere(spec.file)
  if (!isNew) inspect(spec)
  const database = new PlannedDatabase(spec.file)
  try {
    chmodSync(spec.file, 0o600)
    // This has an effect only before the first page is written.
    if (isNew && spec.canShrink) database.pragma('auto_vacuum = INCREMENTAL')
    configure(database)
    migrate(database, spec, isNew)
    assertDurable(database)
    return database
  } catch (error) {
    database.close()
    throw asFault(spec, error)
  }
}

function asFault({ file }: DatabaseSpec, error: unknown): unknown {
  if (!isDamage(error)) return error
  return new DatabaseFaultError('damaged', `"${file}" is damaged: ${error.message}`, { cause: error })
}

/** Returns whether an error is due to a damaged file, or to one without our tables. */
export function isDamage(error: unknown): error is InstanceType<typeof Database.SqliteError> {
  if (!(error instanceof Database.SqliteError)) return false
  return /^SQLITE_(?:CORRUPT|NOTADB|READONLY)/.test(error.code) || /^no such (?:table|column)/.test(error.message)
}

/** Returns whether an error is due to the disk, to permissions or to a lack of descriptors. */
export function isOutOfReach(error: unknown): boolean {
  const code = systemCodeOf(error) ?? ''
  return /^SQLITE_(?:IOERR|CANTOPEN)/.test(code) || /^E(?:RR_FS_E)?[A-Z]+$/.test(code)
}

/** Returns whether a migration is due; false for a database without a schema. */
export function hasOlderSchema(database: Database.Database, { migrationsDir }: DatabaseSpec): boolean {
  const version = Number(database.pragma('user_version', { simple: true }))
  return version > 0 && version < newestVersion(migrationsDir)
}

/** Returns whether only the values of this row were refused, so that other rows can be written. */
export function isRefusedRow(error: unknown): boolean {
  // better-sqlite3 throws a RangeError for a value that is too large to be bound to a statement.
  return error instanceof RangeError || /^SQLITE_(?:TOOBIG|MISMATCH|CONSTRAINT)/.test(systemCodeOf(error) ?? '')
}

export function isDiskFull(error: unknown): boolean {
  const code = systemCodeOf(error)
  return code === 'SQLITE_FULL' || code === 'ENOSPC' || code === 'EDQUOT'
}

/** Opens a database, whose schema may be older. Throws DatabaseFaultError. */
export function openDatabaseReadOnly(spec: DatabaseSpec): Database.Database {
  isDatabaseThere(spec.file)
  inspect(spec)
  const database = new PlannedDatabase(spec.file, { readonly: true, timeout: 5_000 })
  database.pragma('trusted_schema = OFF')
  return database
}

/** How much `checkDatabase` reads: more would take longer than a person waits. */
const MAX_READ_BYTES = 2 ** 30

export interface CheckedDatabase {
  readonly sizeBytes: number
  /** False if the database is too large, so that its pages were not read. */
  readonly isRead: boolean
}

/** Reads the pages, then runs `inspect`; throws like openDatabaseReadOnly. */
export function checkDatabase<T>(
  spec: DatabaseSpec,
  inspect: (database: Database.Database) => T,
): CheckedDatabase & { readonly inspected: T } {
  const sizeBytes = statSync(spec.file).size
  const isRead = sizeBytes <= MAX_READ_BYTES
  const database = openDatabaseReadOnly({ ...spec, check: isRead ? 'quick_check' : undefined })
  try {
    return { sizeBytes, isRead, inspected: inspect(database) }
  } finally {
    database.close()
  }
}

/** Returns whether the file exists. Throws OperatorError('store-unusable') if it, or a file of SQLite beside it, is no file of ours. */
export function isDatabaseThere(file: string): boolean {
  for (const suffix of ['-wal', '-shm', '-journal']) isOwnFile(file + suffix)
  return isOwnFile(file)
}

function readMigrations(directory: string): { version: number; sql: string }[] {
  return readdirSync(directory)
    .filter((name) => /^\d{3}-.+\.sql$/.test(name))
    .sort()
    .map((name) => ({ version: Number(name.slice(0, 3)), sql: readFileSync(join(directory, name), 'utf8') }))
}

function newestVersion(migrationsDir: string): number {
  return readMigrations(migrationsDir).at(-1)?.version ?? 0
}

function inspect(spec: DatabaseSpec): void {
  let version: number
  let applicationId: number
  let isEmpty: boolean
  try {
    // A process killed while it created the database left a journal, which only a writer may replay.
    const isReadOnly = !existsSync(`${spec.file}-journal`)
    const database = new Database(spec.file, { readonly: isReadOnly, timeout: 5_000 })
    try {
      // One snapshot: another process may create the schema between two reads.
      database.exec('BEGIN')
      version = Number(database.pragma('user_version', { simple: true }))
      applicationId = Number(database.pragma('application_id', { simple: true }))
      isEmpty = database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined
      const verdict = spec.check ? database.pragma(`${spec.check}(1)`, { simple: true }) : 'ok'
      if (verdict !== 'ok') throw new DatabaseFaultError('damaged', `"${spec.file}" is damaged: ${String(verdict)}`)
    } finally {
      database.close()
    }
  } catch (error) {
    throw asFault(spec, error)
  }
  // A process that was killed while it created the database leaves it empty.
  if (version === 0 && applicationId === 0 && isEmpty) return
  if (applicationId !== spec.applicationId) {
    throw new DatabaseFaultError(
      'foreign',
      `"${spec.file}" is a database of another program, or of a version before the first release`,
    )
  }
  const newest = newestVersion(spec.migrationsDir)
  if (version > newest) {
    const versions = `its schema is version ${version}, this program knows up to ${newest}`
    throw new DatabaseFaultError('newer', `"${spec.file}" was written by a newer version: ${versions}`)
  }
}

function configure(database: Database.Database): void {
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = FULL')
  database.pragma('foreign_keys = ON')
  database.pragma('trusted_schema = OFF')
  database.pragma('busy_timeout = 5000')
  // Hashes are in random order: with the default of 2 MB each insert would read pages again that were just written.
  database.pragma(`cache_size = -${CACHE_KIB}`)
  database.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
}

function migrate(database: Database.Database, spec: DatabaseSpec, isNew: boolean): void {
  const current = Number(database.pragma('user_version', { simple: true }))
  const pending = readMigrations(spec.migrationsDir).filter(({ version }) => version > current)
  if (pending.length === 0) return
  if (!isNew && current > 0) backUp(database, `${spec.file}.v${current}.bak`)
  const apply = database.transaction(() => {
    for (const { version, sql } of pending) {
      database.exec(sql)
      database.pragma(`user_version = ${version}`)
    }
    database.pragma(`application_id = ${spec.applicationId}`)
  })
  // With foreign keys, dropping a table that a migration replaces would delete the rows that refer to it.
  database.pragma('foreign_keys = OFF')
  apply.immediate()
  database.pragma('foreign_keys = ON')
}

/** Renames a backup only once it is complete, because a later migration keeps an existing backup. */
function backUp(database: Database.Database, file: string): void {
  if (isOwnFile(file)) return
  const part = `${file}.part`
  if (isOwnFile(part)) rmSync(part)
  database.prepare('VACUUM INTO ?').run(part)
  chmodSync(part, 0o600)
  renameSync(part, file)
}

/** Throws unless `synchronous` is still FULL (2), and the journal WAL, after a write. */
function assertDurable(database: Database.Database): void {
  const version = Number(database.pragma('user_version', { simple: true }))
  database.transaction(() => database.pragma(`user_version = ${version}`)).immediate()
  const synchronous = Number(database.pragma('synchronous', { simple: true }))
  const journal = database.pragma('journal_mode', { simple: true })
  if (synchronous !== 2 || journal !== 'wal') {
    throw new Error(`SQLite does not keep its promise: synchronous=${synchronous}, journal_mode=${String(journal)}`)
  }
}

/**
 * Plans each statement once. SQLite would plan it anew for each value of a bare parameter in a comparison or a limit, which takes ten
 * times as long. better-sqlite3 cannot set SQLITE_DBCONFIG_ENABLE_QPSG; a plus sign before the parameter has the same effect.
 */
export class PlannedDatabase extends Database {
  override prepare<Parameters extends unknown[] | object = unknown[], Row = unknown>(sql: string) {
    return super.prepare<Parameters, Row>(planOnce(sql))
  }
}

function planOnce(sql: string): string {
  return sql.replace(/(?<![<>!=])(= ?|\b(?:LIMIT|IS) )(?=[?@])/g, '$1+')
}
