import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** `path`, or the nearest directory above it that exists. */
export function nearestDirectory(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestDirectory(dirname(path))
}

/** Resolves when the file system of `path` answers, also that nothing is there; on a dead network mount never. */
export async function awaitAnswer(path: string): Promise<void> {
  await stat(path).catch(() => {})
}
