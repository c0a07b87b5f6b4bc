import { GLOBAL_ABILITIES } from '../../contract/records.ts'
import type { Tables } from '../database/open-tables.ts'
import { type DataPaths, readTextFile, writeTextFile } from '../storage/data-directory.ts'
import { makeTokenSecret } from './grant.ts'

const OWNER = 'owner'

/** Returns the owner's token, which has all rights. A start without its file creates it. */
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
