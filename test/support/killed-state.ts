import { copyFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDirectory } from './temporary.ts'

const NAMES = ['store.db', 'store.db-wal', 'generation']

/** A copy of what lies in the state directory at this moment, which its holder may be about to change. */
export function copyState(stateDir: string, target = temporaryDirectory()): string {
  for (const name of NAMES.filter((one) => existsSync(join(stateDir, one))))
    copyFileSync(join(stateDir, name), join(target, name))
  return target
}

/** The same, so that it seems to be no copy: as a kill at this moment would leave it. */
export function killedState(stateDir: string): string {
  const killed = copyState(stateDir)
  recordItsPlace(killed)
  return killed
}

/** Changes the generation file so that it takes the database for the file that it was written for. */
function recordItsPlace(stateDir: string): void {
  const { ino, ctimeNs } = statSync(join(stateDir, 'store.db'), { bigint: true })
  const file = join(stateDir, 'generation')
  const generation = readFileSync(file, 'utf8')
  const place = `"place":{"inode":"${ino}","ctimeNs":"${ctimeNs}"}`
  writeFileSync(file, generation.replace(/"place":(?:null|\{[^}]*\})/, place))
}
