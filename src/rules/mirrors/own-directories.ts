import { isWithin, pathWithin } from '../../foundation/files/paths.ts'

/**
 * Returns the program's own directories (absolute real paths) that lie below a mirror's root, relative to it; or `inside`
 * when the root is one of them or lies in one.
 */
export function ownDirectoriesBelow(rootRealPath: string, own: readonly string[]): readonly string[] | 'inside' {
  if (own.some((path) => isWithin(path, rootRealPath))) return 'inside'
  return own.map((path) => pathWithin(rootRealPath, path)).filter((path) => path !== undefined)
}
