import { randomUUID } from 'node:crypto'
import { OperatorError } from '../../foundation/errors.ts'
import type { Settings } from '../database/tables/settings.ts'
import { type DataPaths, readTextFile, writeTextFile } from './data-directory.ts'

/**
 * Returns the identifier of this instance. The first start creates it and writes it to the database and to a file beside it. Throws
 * OperatorError when the two differ, because then the database was lost or belongs to another instance.
 */
export function ensureInstanceId(paths: DataPaths, settings: Settings): string {
  const written = readTextFile(paths.instanceFile)
  const known = settings.read('instance-id')
  if (written !== undefined && written !== known) {
    const found = known === undefined ? 'it is empty' : 'it is one of another instance'
    throw new OperatorError(
      'library-damaged',
      `"${paths.databaseFile}" does not belong to "${paths.instanceFile}": ${found}`,
    )
  }
  const instanceId = known ?? randomUUID()
  if (known === undefined) settings.write('instance-id', instanceId)
  if (written === undefined) writeTextFile(paths.instanceFile, instanceId)
  return instanceId
}
