import { existsSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type Database from 'better-sqlite3'
import { messageOf, OperatorError, UsageError } from '../../foundation/errors.ts'
import {
  type DatabaseFault,
  DatabaseFaultError,
  type DatabaseSpec,
  hasOlderSchema,
  isDamage,
  openDatabase,
  openDatabaseReadOnly,
} from '../../foundation/sqlite/open-database.ts'

const MIGRATIONS = join(import.meta.dirname, 'migrations')
// "klb6". Until the first release, each change of the schema takes another digit: older databases are refused by it.
const APPLICATION_ID = 0x6b6c6236

export interface LibraryDatabaseOptions {
  /** Reads every page before the file is trusted. */
  readonly isSuspect?: boolean
  /** Tests give migrations of a version to come. */
  readonly migrationsDir?: string
}

/** Opens or creates the service's database; throws the errors that `explainDamage` translates. */
export function openLibraryDatabase(file: string, options: LibraryDatabaseOptions = {}): Database.Database {
  const { isSuspect = false, migrationsDir } = options
  const check = isSuspect ? 'quick_check' : undefined
  const database = openDatabase({ ...librarySpecOf(file, migrationsDir), check })
  database.pragma('wal_autocheckpoint = 4000')
  return database
}

/**
 * Opens the database after a check of its pages and indexes, for reading only; throws what `openLibraryDatabase` throws, and
 * UsageError when the schema is an older one.
 */
export function openLibraryReadOnly(file: string): Database.Database {
  const spec = { ...librarySpecOf(file), check: 'integrity_check' as const }
  const database = openDatabaseReadOnly(spec)
  if (!hasOlderSchema(database, spec)) return database
  database.close()
  throw new UsageError(
    'bad-usage',
    `"${file}" was written by an older version: start the library once to bring it up to date`,
  )
}

/** Opens a database that this process serves, for searches in another thread. */
export function openServedLibrary(file: string): Database.Database {
  return openDatabaseReadOnly(librarySpecOf(file))
}

/** True when the last process that served this database ended without closing it. */
export function wasLeftOpen(file: string): boolean {
  return existsSync(`${file}-wal`)
}

/** Removes the empty log that a reader leaves behind. Only for a caller that holds the lock of the directory. */
export function removeEmptyLog(file: string): void {
  if (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size !== 0) return
  for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true })
}

/** Runs `work`; throws OperatorError (`library-damaged`, `store-newer`) when the database can't be used. */
export function explainDamage<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof DatabaseFaultError) && !isDamage(error)) throw error
    const fault = error instanceof DatabaseFaultError ? error.fault : 'damaged'
    const code = fault === 'newer' ? 'store-newer' : 'library-damaged'
    throw new OperatorError(code, `Cannot open the library: ${messageOf(error)}${WAYS_OUT[fault]}`, { cause: error })
  }
}

const WAYS_OUT: Readonly<Record<DatabaseFault, string>> = {
  newer: '; install the newer shelfd, or use another --data-dir',
  foreign: '; move its directory away, or use another --data-dir, to start with an empty library',
  // `serve check` says what is damaged, and what to do about it.
  damaged: '',
}

/** The kind of database that holds a library. */
export function librarySpecOf(file: string, migrationsDir = MIGRATIONS): DatabaseSpec {
  return { file, migrationsDir, applicationId: APPLICATION_ID, canShrink: true }
}
