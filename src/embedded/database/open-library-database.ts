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
// "klb6". Until the first release, each change of the schema also changes the digit, so that older databases are refused.
const APPLICATION_ID = 0x6b6c6236

/** Opens or creates the service's database; with `isSuspect`, checks every page first. Throws the errors of `explainDamage`. */
export function openLibraryDatabase(file: string, isSuspect = false, migrationsDir = MIGRATIONS): Database.Database {
  const check = isSuspect ? 'quick_check' : undefined
  const database = openDatabase({ ...librarySpecOf(file, migrationsDir), check })
  database.pragma('wal_autocheckpoint = 4000')
  return database
}

/** Checks the database and opens it for reading only. Throws as `openLibraryDatabase`, and UsageError if its schema is older. */
export function openLibraryReadOnly(file: string): Database.Database {
  const spec = { ...librarySpecOf(file), check: 'integrity_check' as const }
  const database = openDatabaseReadOnly(spec)
  if (!hasOlderSchema(database, spec)) return database
  database.close()
  throw new UsageError(
    'bad-usage',
    `"${file}" was written by an older version of shelfd: start the library once to update it`,
  )
}

/** Opens the database of a library that this process serves, for the searches of another thread. */
export function openServedLibrary(file: string): Database.Database {
  return openDatabaseReadOnly(librarySpecOf(file))
}

/** Returns whether the last process that served this database ended without closing it. */
export function wasLeftOpen(file: string): boolean {
  return existsSync(`${file}-wal`)
}

/** Removes the empty log that reading creates. The caller must hold the lock of the directory. */
export function removeEmptyLog(file: string): void {
  if (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size !== 0) return
  for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true })
}

/** Runs `work`, and throws OperatorError (`library-damaged`, `store-newer`) if the database cannot be used. */
export function explainDamage<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof DatabaseFaultError) && !isDamage(error)) throw error
    const fault = error instanceof DatabaseFaultError ? error.fault : 'damaged'
    const code = fault === 'newer' ? 'store-newer' : 'library-damaged'
    throw new OperatorError(code, `Cannot open the library: ${messageOf(error)}${HINTS[fault]}`, { cause: error })
  }
}

const HINTS: Readonly<Record<DatabaseFault, string>> = {
  newer: '; install the newer shelfd, or use another --data-dir',
  foreign: '; move its directory away, or use another --data-dir, to start with an empty library',
  // `serve check` tells users what is damaged and what to do.
  damaged: '',
}

/** Returns how to open the database of a library. */
export function librarySpecOf(file: string, migrationsDir = MIGRATIONS): DatabaseSpec {
  return { file, migrationsDir, applicationId: APPLICATION_ID, canShrink: true }
}
