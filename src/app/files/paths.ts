import { existsSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { systemCodeOf } from '../../foundation/errors.ts'
import { boundedFileSystem, realPathWithoutAsking } from '../../local/read/bounded-file-system.ts'
import { BIGINT, isRegularFile, kindOf } from '../../local/read/file-system.ts'

/**
 * Returns the real path of `word`, or its absolute path when it cannot be resolved; of a network mount that nobody has asked yet, the
 * path as it is given: a command touches only the mirrors that it works on.
 */
export function realPathOf(cwd: string, word: string): string {
  const path = resolve(cwd, word)
  try {
    return realPathWithoutAsking(path)
  } catch {
    return path
  }
}

/** Returns the real path of a directory of the program's own, or the path where it does not exist yet. */
export function realPathOfOwn(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

export function isThere(path: string): boolean {
  return existsSync(path)
}

/** Returns whether a file is at `path`; false where that cannot be found out. */
export function isFile(path: string): boolean {
  try {
    return isRegularFile(boundedFileSystem.statSync(path, BIGINT))
  } catch {
    return false
  }
}

/** Returns whether nothing is at `path`; false where that cannot be found out. */
export function isMissing(path: string): boolean {
  try {
    boundedFileSystem.lstatSync(path, BIGINT)
    return false
  } catch (error) {
    return ['ENOENT', 'ENOTDIR'].includes(systemCodeOf(error) ?? '')
  }
}

/** Returns the names of the directories in a directory; none where it cannot be read. */
export function listDirectories(path: string): string[] {
  try {
    return boundedFileSystem.readdirSync(path).filter((name) => isDirectoryOrLink(join(path, name)))
  } catch {
    return []
  }
}

function isDirectoryOrLink(path: string): boolean {
  try {
    return ['directory', 'symlink'].includes(kindOf(boundedFileSystem.lstatSync(path, BIGINT)))
  } catch {
    return false
  }
}

/** Returns `path`, or the nearest directory above it that exists. */
export function nearestDirectory(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestDirectory(dirname(path))
}
