import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../../src/foundation/sqlite/open-database.ts'

const SOURCE = join(import.meta.dirname, '..', '..', 'src', 'store', 'migrations')
const APPLICATION_ID = 0x73686c66

/** Creates an empty store of the first version, which no later version has opened. */
export function makeOldStore(stateDir: string): void {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 })
  const migrationsDir = join(stateDir, 'migrations')
  cpSync(join(SOURCE, '001-initial.sql'), join(migrationsDir, '001-initial.sql'))
  openDatabase({ file: join(stateDir, 'store.db'), migrationsDir, applicationId: APPLICATION_ID }).close()
  rmSync(migrationsDir, { recursive: true })
}
