import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { messageOf, OperatorError } from '../../foundation/errors.ts'
import { DatabaseFaultError, openDatabase } from '../../foundation/sqlite/open-database.ts'

const MIGRATIONS_DIR = fileURLToPath(new URL('./migrations', import.meta.url))
const APPLICATION_ID = 0x6b_6c_69_62

/** Opens or creates the service's database; throws the errors that `explainDamage` translates. */
export function openLibraryDatabase(file: string, isSuspect = false): Database.Database {
  const check = isSuspect ? 'quick_check' : undefined
  const database = openDatabase({ file, migrationsDir: MIGRATIONS_DIR, applicationId: APPLICATION_ID, check })
  database.pragma('wal_autocheckpoint = 4000')
  return database
}

/** True when the last process that served this database ended without closing it. */
export function wasLeftOpen(file: string): boolean {
  return existsSync(`${file}-wal`)
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
  const isDamage = error instanceof Database.SqliteError && /^SQLITE_(CORRUPT|NOTADB)/.test(error.code)
  return isDamage ? 'library-damaged' : undefined
}
