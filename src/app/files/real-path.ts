import { existsSync, realpathSync } from 'node:fs'
import { resolve } from 'node:path'

/** The real path of `word`, or its absolute path when it cannot be resolved. */
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
