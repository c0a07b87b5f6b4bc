import { randomUUID } from 'node:crypto'
import { GLOBAL_ABILITIES } from '../contract/records.ts'
import { OperatorError } from '../foundation/errors.ts'
import { type DataPaths, readTextFile, writeTextFile } from './data-directory.ts'
import { makeTokenSecret } from './grant.ts'
import type { Tables } from './tables/open-tables.ts'

const OWNER = 'owner'

/**
 * The identifier of this instance, made with its first start and kept in the database and beside it. Throws OperatorError
 * when the two differ: then the database was lost, or is one of another instance.
 */
export function ensureInstanceId(paths: DataPaths, tables: Tables): string {
  const written = readTextFile(paths.instanceFile)
  const known = tables.settings.read('instance-id')
  if (written !== undefined && written !== known) {
    const found = known === undefined ? 'it is empty' : 'it is one of another instance'
    throw new OperatorError(
      'library-damaged',
      `"${paths.databaseFile}" does not belong to "${paths.instanceFile}": ${found}`,
    )
  }
  const instanceId = known ?? randomUUID()
  if (known === undefined) tables.settings.write('instance-id', instanceId)
  if (written === undefined) writeTextFile(paths.instanceFile, instanceId)
  return instanceId
}

/** The token of the owner, who may do everything; made with the first start, and again when its file was removed. */
export function ensureOwnerToken(paths: DataPaths, tables: Tables, nowMs: number): string {
  const written = readTextFile(paths.tokenFile)
  if (written !== undefined) return written
  const { token, selector, secretSha256 } = makeTokenSecret()
  tables.tokens.remove(OWNER)
  tables.tokens.insert({
    selector,
    secretSha256,
    name: OWNER,
    abilities: JSON.stringify(GLOBAL_ABILITIES),
    interfaces: JSON.stringify(['api', 'mcp']),
    createdAtMs: nowMs,
    expiresAtMs: null,
  })
  writeTextFile(paths.tokenFile, token)
  return token
}
