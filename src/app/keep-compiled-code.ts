import { enableCompileCache } from 'node:module'
import { isAbsolute, join } from 'node:path'
import { makeOwnDirectory } from '../foundation/files/private-directory.ts'

/**
 * Keeps compiled code for the next start in a directory that belongs to this user alone. Node's default is a shared
 * temporary directory, and Node would run code that other users put there.
 */
export function keepCompiledCode(home: string, given = ''): void {
  const directory = join(isAbsolute(given) ? given : join(home, '.cache'), 'shelfd', 'code')
  try {
    makeOwnDirectory(directory)
    enableCompileCache(directory)
  } catch {
    // Without the cache the program only starts more slowly.
  }
}
