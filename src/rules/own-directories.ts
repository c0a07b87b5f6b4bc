/**
 * Which of the program's own directories (absolute real paths) lie below a mirror's root, relative to it; or `inside`
 * when the root itself is one of them or lies in one.
 */
export function ownDirectoriesBelow(rootRealPath: string, own: readonly string[]): readonly string[] | 'inside' {
  const root = rootRealPath.replace(/\/$/, '')
  if (own.some((path) => root === path || root.startsWith(`${path}/`))) return 'inside'
  return own.filter((path) => path.startsWith(`${root}/`)).map((path) => path.slice(root.length + 1))
}
