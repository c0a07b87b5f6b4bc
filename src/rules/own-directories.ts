import { isWithin, pathWithin } from '../foundation/paths.ts'

/**
 * Which of the program's own directories (absolute real paths) lie below a mirror's root, relative to it; or `inside`
 * when the root itself is one of them or lies in one.
 */
export function ownDirectoriesBelow(rootRealPath: string, own: readonly string[]): readonly string[] | 'inside' {
  if (own.some((path) => isWithin(path, rootRealPath))) return 'inside'
  return own.map((path) => pathWithin(rootRealPath, path)).filter((path) => path !== undefined)
}
