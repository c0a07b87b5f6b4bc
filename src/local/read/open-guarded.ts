import { constants } from 'node:fs'
import { sep } from 'node:path'
import { isWithin } from '../../foundation/paths.ts'
import { asFileError, fileError } from './file-errors.ts'
import type { FileStats, FileSystem } from './file-system.ts'
import type { Fingerprint } from './fingerprint.ts'
import { fingerprintOf, isRegularFile, sameFingerprint } from './fingerprint.ts'

/** A regular file under the root, open for reading; disposing closes it. */
export interface GuardedFile extends Disposable {
  readonly relativePath: string
  readonly descriptor: number
  readonly fingerprint: Fingerprint
}

// Windows has neither flag: no FIFO can stand in a directory there, and links are caught by the real path.
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0)

/**
 * Opens a file of a mirror so that nothing outside the root can be read through the descriptor, whatever is swapped for
 * a link meanwhile. `rootRealPath` is inspectRoot's. Throws FileError; EMFILE and ENFILE stay as they are, for the
 * caller to try again.
 */
export function openGuarded(fs: FileSystem, rootRealPath: string, relativePath: string): GuardedFile {
  const path = `${rootRealPath}/${relativePath}`
  try {
    const descriptor = fs.openSync(path, FLAGS)
    try {
      return guard(fs, { rootRealPath, path, relativePath, descriptor })
    } catch (error) {
      fs.closeSync(descriptor)
      throw error
    }
  } catch (error) {
    throw asFileError(error, relativePath)
  }
}

/** Throws FileError `busy` unless the open file's fingerprint is still the one it was opened with. */
export function assertUnchanged(fs: FileSystem, file: GuardedFile): void {
  const now = fingerprintOf(fs.fstatSync(file.descriptor, { bigint: true }))
  if (!sameFingerprint(now, file.fingerprint)) throw changedWhileRead(file.relativePath)
}

export function changedWhileRead(relativePath: string): Error {
  return fileError('busy', relativePath, 'it changed while it was read')
}

interface Opened {
  readonly rootRealPath: string
  readonly path: string
  readonly relativePath: string
  readonly descriptor: number
}

function guard(fs: FileSystem, opened: Opened): GuardedFile {
  const { descriptor, relativePath } = opened
  const stats = fs.fstatSync(descriptor, { bigint: true })
  if (!isRegularFile(stats)) throw fileError('unsupported', relativePath, 'it is not a regular file')
  if (!isUnder(opened.rootRealPath, realPathOf(fs, opened, stats))) {
    throw fileError('outside-root', relativePath, "it lies outside the mirror's directory")
  }
  return {
    relativePath,
    descriptor,
    fingerprint: fingerprintOf(stats),
    [Symbol.dispose]: () => fs.closeSync(descriptor),
  }
}

/** Linux tells where a descriptor really lies; elsewhere the path must lead to the very file that is open. */
function realPathOf(fs: FileSystem, { path, descriptor }: Opened, stats: FileStats): string | undefined {
  try {
    return fs.readlinkSync(`/proc/self/fd/${descriptor}`)
  } catch {
    const realPath = fs.realpathSync(path)
    const found = fs.lstatSync(realPath, { bigint: true })
    return found.ino === stats.ino && found.dev === stats.dev ? realPath : undefined
  }
}

/** Whether a real path lies below the root. */
export function isUnder(rootRealPath: string, path: string | undefined): boolean {
  return path !== undefined && path !== rootRealPath && isWithin(rootRealPath, path, sep)
}
