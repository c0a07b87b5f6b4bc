/** The file `control` in the state directory tells clients the path of the socket. */
import { lstatSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { readOwnFile } from '../../foundation/files/own-file.ts'
import { assertOwnDirectory } from '../../foundation/files/private-directory.ts'
import { replaceFile } from '../../foundation/files/replace-file.ts'
import { explainFaults } from '../../store/integrity/explain-faults.ts'

/** More than the longest path of any system. */
const MAX_BYTES = 8_192

export function writeSocketPath(stateDir: string, path: string): void {
  explainFaults(stateDir, () => replaceFile(socketFileOf(stateDir), `${path}\n`))
}

export function removeSocketFile(stateDir: string): void {
  explainFaults(stateDir, () => rmSync(socketFileOf(stateDir), { force: true }))
}

export function removeSocket(stateDir: string, path: string): void {
  rmSync(socketFileOf(stateDir), { force: true })
  if (process.platform !== 'win32') rmSync(path, { force: true })
}

/**
 * Returns the path of the daemon's socket; undefined if there is none, or another user owns it. Throws UsageError('insecure-file') if
 * others could have written the file, OperatorError if it is no file of shelfd.
 */
export function findSocket(stateDir: string): string | undefined {
  const path = explainFaults(stateDir, () => {
    assertOwnDirectory(stateDir, { isReader: true })
    return readOwnFile(socketFileOf(stateDir), MAX_BYTES)?.trim()
  })
  if (path === undefined || process.platform === 'win32') return path
  try {
    const owners = [lstatSync(realpathSync(stateDir)).uid, process.getuid?.()]
    return owners.includes(lstatSync(path).uid) ? path : undefined
  } catch {
    return undefined
  }
}

function socketFileOf(stateDir: string): string {
  return join(stateDir, 'control')
}
