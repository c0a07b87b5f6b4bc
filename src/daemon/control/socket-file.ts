/** Writes the file `control` in the state directory, from which clients learn the path of the socket. */
import { lstatSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { assertOwnDirectory } from '../../foundation/files/private-directory.ts'
import { replaceFile } from '../../foundation/files/replace-file.ts'

export function writeSocketPath(stateDir: string, path: string): void {
  replaceFile(socketFileOf(stateDir), `${path}\n`)
}

/** Removes the file and the socket when the daemon stops listening. */
export function removeSocket(stateDir: string, path: string): void {
  rmSync(socketFileOf(stateDir), { force: true })
  if (process.platform !== 'win32') rmSync(path, { force: true })
}

/**
 * Returns the socket that the last daemon recorded, if it belongs to this user or to the owner of the state directory.
 * Throws UsageError('insecure-file') where others could have written the file.
 */
export function findSocket(stateDir: string): string | undefined {
  assertOwnDirectory(stateDir, { isReader: true })
  try {
    const path = readFileSync(socketFileOf(stateDir), 'utf8').trim()
    if (process.platform === 'win32') return path
    const owners = [lstatSync(realpathSync(stateDir)).uid, process.getuid?.()]
    return owners.includes(lstatSync(path).uid) ? path : undefined
  } catch {
    return undefined
  }
}

function socketFileOf(stateDir: string): string {
  return join(stateDir, 'control')
}
