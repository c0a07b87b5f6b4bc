import { statSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { type DatabaseSpec, openDatabaseReadOnly } from './open-database.ts'

/** Reading more takes longer than a person waits. */
const MAX_READ_BYTES = 2 ** 30

export interface CheckedDatabase {
  readonly sizeBytes: number
  /** False for a database that is too large to be read at once. */
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
