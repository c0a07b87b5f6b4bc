import { constants } from 'node:fs'
import { sep } from 'node:path'
import { isWithin } from '../../foundation/files/paths.ts'
import { asFileError, fileError } from './file-errors.ts'
import {
  BIGINT,
  type FileStats,
  type FileSystem,
  type Fingerprint,
  fingerprintOf,
  isRegularFile,
  sameFingerprint,
} from './file-system.ts'
import { isInPlace, type RootPlace } from './open-and-recheck-root.ts'

export interface GuardedFile extends Disposable {
  readonly relativePath: string
  readonly descriptor: number
  readonly fingerprint: Fingerprint
}

// Windows lacks the last three flags: its directories hold no FIFOs, and the check of the real path finds links.
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0)

/**
 * Opens a regular file. No byte from outside the root can be read, even if a directory on the path is replaced by a link. Throws FileError,
 * but EMFILE and ENFILE unchanged, so that the caller can retry.
 */
export function openGuarded(fs: FileSystem, root: RootPlace, relativePath: string): GuardedFile {
  const path = `${root.accessPath}/${relativePath}`
  try {
    const descriptor = fs.openSync(path, FLAGS)
    try {
      return guard(fs, { root, path, relativePath, descriptor })
    } catch (error) {
      fs.closeSync(descriptor)
      throw error
    }
  } catch (error) {
    throw asFileError(error, relativePath)
  }
}

/** Throws FileError `busy` if the fingerprint has changed since the file was opened. */
export function assertUnchanged(fs: FileSystem, file: GuardedFile): void {
  const now = fingerprintOf(fs.fstatSync(file.descriptor, { bigint: true }))
  if (!sameFingerprint(now, file.fingerprint)) throw changedWhileRead(file.relativePath)
}

export function changedWhileRead(relativePath: string): Error {
  return fileError('busy', relativePath, 'it changed while it was read')
}

interface Opened {
  readonly root: RootPlace
  readonly path: string
  readonly relativePath: string
  readonly descriptor: number
}

function guard(fs: FileSystem, opened: Opened): GuardedFile {
  const { descriptor, relativePath } = opened
  const stats = fs.fstatSync(descriptor, BIGINT)
  if (!isRegularFile(stats)) throw fileError('unsupported', relativePath, 'it is not a regular file')
  if (!isUnder(opened.root.realPath, realPathOf(fs, opened, stats))) {
    throw fileError('outside-root', relativePath, "it lies outside the mirror's directory")
  }
  return {
    relativePath,
    descriptor,
    fingerprint: fingerprintOf(stats),
    [Symbol.dispose]: () => fs.closeSync(descriptor),
  }
}

/** Returns what Linux names as the descriptor's path; elsewhere the real path, if it leads to the same file and the root is the same. */
function realPathOf(fs: FileSystem, { root, path, descriptor }: Opened, stats: FileStats): string | undefined {
  try {
    return fs.readlinkSync(`/proc/self/fd/${descriptor}`)
  } catch {
    const realPath = fs.realpathSync(path)
    const found = fs.lstatSync(realPath, { bigint: true })
    return found.ino === stats.ino && found.dev === stats.dev && isInPlace(fs, root) ? realPath : undefined
  }
}

export function isUnder(rootRealPath: string, path: string | undefined): boolean {
  return path !== undefined && path !== rootRealPath && isWithin(rootRealPath, path, sep)
}

/** Reads at `position`; the result is empty only at the size that the file had at opening. Throws FileError `busy` if it ends earlier. */
export function readChunk(fs: FileSystem, file: GuardedFile, scratch: Uint8Array, position: number): Uint8Array {
  const wanted = Math.min(scratch.length, file.fingerprint.sizeBytes - position)
  if (wanted === 0) return scratch.subarray(0, 0)
  const got = fs.readSync(file.descriptor, scratch, 0, wanted, position)
  if (got === 0) throw changedWhileRead(file.relativePath)
  return scratch.subarray(0, got)
}

/** Returns a buffer of exactly this size, with any content, to read into. */
export type TakeBuffer = (sizeBytes: number) => Uint8Array

/** Reads a file into one buffer. */
export function readWhole(fs: FileSystem, file: GuardedFile, take: TakeBuffer = Buffer.allocUnsafeSlow): Uint8Array {
  const bytes = take(file.fingerprint.sizeBytes)
  for (let position = 0; position < bytes.length; ) {
    position += readChunk(fs, file, bytes.subarray(position), position).length
  }
  return bytes
}
