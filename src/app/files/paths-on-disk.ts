import { existsSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { systemCodeOf } from '../../foundation/errors.ts'
import { boundedFileSystem, realPathWithoutAsking } from '../../local/read/bounded-file-system.ts'
import { BIGINT, isRegularFile, kindOf } from '../../local/read/file-system.ts'

/**
 * Returns the real path of `word`, or its absolute path where it cannot be resolved. A network mount that nobody has asked yet is not
 * asked.
 */
export function realPathOf(cwd: string, word: string): string {
  const path = resolve(cwd, word)
  try {
    return realPathWithoutAsking(path)
  } catch {
    return path
  }
}

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

export function isFile(path: string): boolean {
  try {
    return isRegularFile(boundedFileSystem.statSync(path, BIGINT))
  } catch {
    return false
  }
}

export function isMissing(path: string): boolean {
  try {
    boundedFileSystem.lstatSync(path, BIGINT)
    return false
  } catch (error) {
    return ['ENOENT', 'ENOTDIR'].includes(systemCodeOf(error) ?? '')
  }
}

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

export function nearestDirectory(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestDirectory(dirname(path))
}
