import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, type Stats } from 'node:fs'
import { OperatorError, systemCodeOf } from '../errors.ts'
import { findIntruder, ownUid } from './ownership.ts'

// Windows has neither such links nor these flags.
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0)

/** Throws OperatorError('store-unusable') for anything but a file of ours, since it could block the opener or lead elsewhere. */
export function isOwnFile(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found) return false
  if (!found.isFile()) throw unusable(path, `it is ${kindOf(found)}, not a file that shelfd wrote`)
  const { uid, gid } = found
  // Root has checked the directory, and may read the state of other users.
  const intruder = findIntruder(path, { uid, gid, mode: 0 }, { owners: ownUid() === 0 ? 'anyone' : 'nobody' })
  if (intruder) throw unusable(path, intruder.why, `run: ${intruder.fix}`)
  return true
}

/** Undefined without the file. Throws OperatorError('store-unusable') for anything but a file of ours, and beyond `maxBytes`. */
export function readOwnFile(path: string, mostBytes: number): string | undefined {
  if (!isOwnFile(path)) return undefined
  const descriptor = openIfThere(path)
  if (descriptor === undefined) return undefined
  try {
    const found = fstatSync(descriptor)
    if (!found.isFile() || found.size > mostBytes) throw tooLarge(path, found.size)
    const buffer = Buffer.alloc(mostBytes)
    return buffer.toString('utf8', 0, readSync(descriptor, buffer, 0, mostBytes, 0))
  } finally {
    closeSync(descriptor)
  }
}

/** Does not wait, and follows no link. */
export function openOwnFile(path: string): number {
  return openSync(path, READ)
}

/** Another process may have removed it meanwhile. */
function openIfThere(path: string): number | undefined {
  try {
    return openOwnFile(path)
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** The error for a path where something lies that this program did not put there. */
export function unusable(
  path: string,
  why: string,
  todo = 'find out what put it there, move it away, and run again',
): OperatorError {
  return new OperatorError('store-unusable', `Cannot use "${path}": ${why}; ${todo}`)
}

function tooLarge(path: string, sizeBytes: number): OperatorError {
  return unusable(path, `shelfd wrote no file of ${sizeBytes} bytes there`)
}

function kindOf(found: Stats): string {
  if (found.isSymbolicLink()) return 'a link'
  if (found.isDirectory()) return 'a directory'
  if (found.isFIFO()) return 'a pipe'
  if (found.isSocket()) return 'a socket'
  return 'a device'
}
