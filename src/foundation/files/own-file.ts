import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, type Stats } from 'node:fs'
import { OperatorError, systemCodeOf } from '../errors.ts'
import { findIntruder, ownUid } from './ownership.ts'

// Windows lacks the last two flags.
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0)

/** Returns whether the file exists. Throws OperatorError('store-unusable') for a pipe, a link and the like, and for another user's file. */
export function isOwnFile(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found) return false
  if (!found.isFile()) throw notFile(path, found)
  const { uid, gid } = found
  // Root may read the state of other users, whose directory it has checked.
  const intruder = findIntruder(path, { uid, gid, mode: 0 }, { owners: ownUid() === 0 ? 'anyone' : 'nobody' })
  if (intruder) throw unusable(path, intruder.why, `run: ${intruder.fix}`)
  return true
}

/** Returns the text of the file; undefined if there is none. Throws as `isOwnFile` does, and if it has more than `maxBytes`. */
export function readOwnFile(path: string, maxBytes: number): string | undefined {
  if (!isOwnFile(path)) return undefined
  const descriptor = openIfThere(path)
  if (descriptor === undefined) return undefined
  try {
    const found = fstatSync(descriptor)
    if (!found.isFile()) throw notFile(path, found)
    if (found.size > maxBytes) throw unusable(path, `it has ${found.size} bytes, more than shelfd writes there`)
    const buffer = Buffer.alloc(maxBytes)
    return buffer.toString('utf8', 0, readSync(descriptor, buffer, 0, maxBytes, 0))
  } finally {
    closeSync(descriptor)
  }
}

/** Opens a file without waiting for a pipe's writer and without following a link. */
export function openOwnFile(path: string): number {
  return openSync(path, READ)
}

/** Returns undefined if another process has removed the file meanwhile. */
function openIfThere(path: string): number | undefined {
  try {
    return openOwnFile(path)
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Returns the error for a path with something that this program did not put there. */
export function unusable(
  path: string,
  why: string,
  remedy = 'find out what put it there, move it away, and run again',
): OperatorError {
  return new OperatorError('store-unusable', `Cannot use "${path}": ${why}; ${remedy}`)
}

function notFile(path: string, found: Stats): OperatorError {
  return unusable(path, `it is ${kindOf(found)}, not a file that shelfd wrote`)
}

function kindOf(found: Stats): string {
  if (found.isSymbolicLink()) return 'a link'
  if (found.isDirectory()) return 'a directory'
  if (found.isFIFO()) return 'a pipe'
  if (found.isSocket()) return 'a socket'
  return 'a device'
}
