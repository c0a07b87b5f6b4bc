import { existsSync } from 'node:fs'
import { type ExaminedDatabase, examineDatabase } from '../../foundation/sqlite/examine-database.ts'
import { explainDamage, librarySpecOf } from '../database/open-library-database.ts'
import { dataPaths } from '../storage/data-directory.ts'

/**
 * Examines the database of a data directory, which another process may serve, and changes nothing; returns undefined when
 * there is none yet. Throws OperatorError (`library-damaged`, `store-newer`).
 */
export function examineLibrary(dataDir: string): ExaminedDatabase | undefined {
  const { databaseFile } = dataPaths(dataDir)
  if (!existsSync(databaseFile)) return undefined
  return explainDamage(() => examineDatabase(librarySpecOf(databaseFile), () => undefined))
}
