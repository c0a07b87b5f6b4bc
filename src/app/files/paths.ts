import { existsSync, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/** Returns the real path of `word`, or its absolute path when it cannot be resolved. */
export function realPathOf(cwd: string, word: string): string {
  const path = resolve(cwd, word)
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
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
  } catch {
    return false
  }
}

/** Returns whether nothing is at `path`; false where that cannot be found out. */
export function isMissing(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined
  } catch {
    return false
  }
}

/** Returns the names of the directories in a directory; none where it cannot be read. */
export function listDirectories(path: string): string[] {
  try {
    const entries = readdirSync(path, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink()).map(({ name }) => name)
  } catch {
    return []
  }
}

/** Returns `path`, or the nearest directory above it that exists. */
export function nearestDirectory(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestDirectory(dirname(path))
}

/** Resolves when the file system of `path` answers, also that nothing is there; on a dead network mount never. */
export async function awaitResponse(path: string): Promise<void> {
  await stat(path).catch(() => {})
}
