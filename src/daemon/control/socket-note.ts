/** The file `control` in the state directory: it tells clients where the daemon listens. */
import { lstatSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export function writeSocketNote(stateDir: string, path: string): void {
  const file = noteFileOf(stateDir)
  writeFileSync(`${file}.new`, `${path}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

/** Nobody listens any more. */
export function removeSocket(stateDir: string, path: string): void {
  rmSync(noteFileOf(stateDir), { force: true })
  if (process.platform !== 'win32') rmSync(path, { force: true })
}

/** The socket that the last daemon told of, if it is there and belongs to us or to whoever owns the state directory. */
export function findSocket(stateDir: string): string | undefined {
  try {
    const path = readFileSync(noteFileOf(stateDir), 'utf8').trim()
    if (process.platform === 'win32') return path
    const owners = [lstatSync(realpathSync(stateDir)).uid, process.getuid?.()]
    return owners.includes(lstatSync(path).uid) ? path : undefined
  } catch {
    return undefined
  }
}

function noteFileOf(stateDir: string): string {
  return join(stateDir, 'control')
}
