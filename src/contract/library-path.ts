/** Library paths (interface 2.9): absolute, case-sensitive, no `.` or `..`, trailing slashes ignored except for the root. */

/** Returns the canonical form of a library path, or undefined when it is malformed. */
export function normalizeLibraryPath(path: string): string | undefined {
  if (!path.startsWith('/') || path.includes('\0') || !path.isWellFormed()) return undefined
  const segments = path
    .replace(/(?<!\/)\/+$/, '')
    .split('/')
    .slice(1)
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..')) return undefined
  return `/${segments.join('/')}`
}

/** Joins `parent` and a relative path (or name) below it; returns `parent` if the relative path is empty. */
export function joinLibraryPath(parent: string, relative: string): string {
  if (relative === '') return parent
  return parent === '/' ? `/${relative}` : `${parent}/${relative}`
}

/** Returns the parent of a canonical library path; the root is its own parent. */
export function parentLibraryPath(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf('/')))
}

/** Returns the last segment of a canonical library path; an empty text for the root. */
export function nameOfLibraryPath(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
