import { existsSync, rmSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type Database from 'better-sqlite3'
import { messageOf, OperatorError, UsageError } from '../../foundation/errors.ts'
import {
  DatabaseFaultError,
  type DatabaseSpec,
  hasOlderSchema,
  isDamage,
  openDatabase,
  openDatabaseReadOnly,
} from '../../foundation/sqlite/open-database.ts'

const MIGRATIONS_DIR = fileURLToPath(new URL('./migrations', import.meta.url))
const APPLICATION_ID = 0x6b_6c_69_62

/** Opens or creates the service's database; throws the errors that `explainDamage` translates. */
export function openLibraryDatabase(file: string, isSuspect = false): Database.Database {
  const database = openDatabase({ ...librarySpecOf(file), check: isSuspect ? 'quick_check' : undefined })
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
  return openDatabaseReadOnly({ file, migrationsDir: MIGRATIONS_DIR, applicationId: APPLICATION_ID })
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
    const code = faultOf(error)
    if (code === undefined) throw error
    throw new OperatorError(code, `Cannot open the library: ${messageOf(error)}`, { cause: error })
  }
}

function faultOf(error: unknown): OperatorError['code'] | undefined {
  if (error instanceof DatabaseFaultError) return error.fault === 'newer' ? 'store-newer' : 'library-damaged'
  return isDamage(error) ? 'library-damaged' : undefined
}

/** The kind of database that holds a library. */
export function librarySpecOf(file: string): DatabaseSpec {
  return { file, migrationsDir: MIGRATIONS_DIR, applicationId: APPLICATION_ID, canShrink: true }
}
