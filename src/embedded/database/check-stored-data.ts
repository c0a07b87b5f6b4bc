import type { Database } from 'better-sqlite3'
import { DatabaseFaultError } from '../../foundation/sqlite/open-database.ts'
import type { Tables } from './open-tables.ts'

/**
 * Checks what a check of the database's pages cannot see, such as an overflow page that was overwritten: the bytes of each small
 * content against their hash, and the search index against its own checksums. Throws DatabaseFaultError, or SQLITE_CORRUPT.
 */
export function checkStoredData(database: Database, { smallContents }: Tables): void {
  const damaged = smallContents.findDamaged()
  if (damaged !== undefined) {
    const why = `the content of resource ${damaged} is not what was uploaded`
    throw new DatabaseFaultError('damaged', `"${database.name}" is damaged: ${why}`)
  }
  database.exec("INSERT INTO passage_words (passage_words) VALUES ('integrity-check')")
}
