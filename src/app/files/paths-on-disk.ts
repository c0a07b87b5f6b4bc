import { existsSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { systemCodeOf } from '../../foundation/errors.ts'
import { boundedFileSystem, realPathWithoutAsking } from '../../local/read/bounded-file-system.ts'
import { BIGINT, isRegularFile, kindOf } from '../../local/read/file-system.ts'

/** Returns the real path of `word`, else its absolute path. Does not call a network mount that has not answered before. */
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

/** Returns the path of a documentation page on this computer. If this installation has no docs, it returns `docs/NAME`. */
export function docsPage(name: string): string {
  const file = join(dirname(createRequire(import.meta.url).resolve('../../../package.json')), 'docs', name)
  return existsSync(file) ? file : `docs/${name}`
}
