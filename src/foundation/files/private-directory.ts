import { existsSync, lstatSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { systemCodeOf, UsageError } from '../errors.ts'
import { findIntruder, ownUid } from './ownership.ts'

export function makeOwnDirectory(directory: string): void {
  makeDirectories(directory)
  assertOwnDirectory(directory)
}

/** Creates missing parents too. Node's recursive `mkdir` never ends where no directory can be created, as below /proc. */
export function makeDirectories(directory: string, mode = 0o700): void {
  try {
    mkdirSync(directory, { mode })
  } catch (error) {
    if (statSync(directory, { throwIfNoEntry: false })?.isDirectory()) return
    const parent = dirname(directory)
    if (systemCodeOf(error) !== 'ENOENT' || parent === directory || existsSync(parent)) throw error
    makeDirectories(parent, mode)
    makeDirectories(directory, mode)
  }
}

/**
 * Throws UsageError('insecure-file') if other users own `directory` or can write to it. With `isReader`, root may read another user's
 * directory. Does nothing if the directory is missing.
 */
export function assertOwnDirectory(directory: string, { isReader = false } = {}): void {
  const found = statSync(directory, { throwIfNoEntry: false })
  if (!found) return
  const isRootReading = isReader && ownUid() === 0
  const { uid, gid } = lstatSync(directory)
  // The owner of a link can point it elsewhere.
  const intruder =
    findIntruder(directory, { uid, gid, mode: 0 }, { owners: isRootReading ? 'anyone' : 'root', isTree: true }) ??
    findIntruder(directory, found, { owners: isRootReading ? 'anyone' : 'nobody', isTree: true })
  if (!intruder) return
  const text = `Cannot keep anything in "${directory}": ${intruder.why}`
  throw new UsageError('insecure-file', `${text}; run: ${intruder.fix}, or choose another directory`)
}
