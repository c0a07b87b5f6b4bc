import { existsSync, realpathSync } from 'node:fs'
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

/** Returns `path`, or the nearest directory above it that exists. */
export function nearestDirectory(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestDirectory(dirname(path))
}

/** Resolves when the file system of `path` answers, also that nothing is there; on a dead network mount never. */
export async function awaitResponse(path: string): Promise<void> {
  await stat(path).catch(() => {})
}
