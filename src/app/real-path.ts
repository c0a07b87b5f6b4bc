import { existsSync, realpathSync } from 'node:fs'
import { resolve } from 'node:path'

/** The real path of what a word names, or its plain absolute path when there is nothing. */
export function realPathOf(cwd: string, word: string): string {
  const path = resolve(cwd, word)
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/** Whether there is anything at a path. */
export function isThere(path: string): boolean {
  return existsSync(path)
}
