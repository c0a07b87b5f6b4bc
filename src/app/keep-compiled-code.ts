import { enableCompileCache } from 'node:module'
import { isAbsolute, join } from 'node:path'
import { makeOwnDirectory } from '../foundation/private-directory.ts'

/**
 * Keeps compiled code for the next start in a directory of this user alone: by default Node shares one for temporary files,
 * and runs what anybody put there.
 */
export function keepCompiledCode(home: string, given = ''): void {
  const directory = join(isAbsolute(given) ? given : join(home, '.cache'), 'shelfd', 'code')
  try {
    makeOwnDirectory(directory)
    enableCompileCache(directory)
  } catch {
    // Without it the program starts a little more slowly.
  }
}
