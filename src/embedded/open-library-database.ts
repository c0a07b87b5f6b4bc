import { fileURLToPath } from 'node:url'
import type { Database } from 'better-sqlite3'
import { OperatorError } from '../foundation/errors.ts'
import { DatabaseFaultError, openDatabase } from '../foundation/sqlite/open-database.ts'

const MIGRATIONS_DIR = fileURLToPath(new URL('./migrations', import.meta.url))
const APPLICATION_ID = 0x6b_6c_69_62

/** Opens or makes the service's database; throws OperatorError (`library-damaged`, `store-newer`) and leaves the file as it is. */
export function openLibraryDatabase(file: string): Database {
  try {
    const database = openDatabase({ file, migrationsDir: MIGRATIONS_DIR, applicationId: APPLICATION_ID })
    database.pragma('wal_autocheckpoint = 4000')
    return database
  } catch (error) {
    if (!(error instanceof DatabaseFaultError)) throw error
    const code = error.fault === 'newer' ? 'store-newer' : 'library-damaged'
    throw new OperatorError(code, `Cannot open the library: ${error.message}`, { cause: error })
  }
}
