/**
 * Paths below a mirror's directory are relative, with `/` between names and '' for the directory itself. Library paths and real paths are
 * absolute.
 */

/** `directory` may be ''. */
export function joinPath(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`
}

/** '' for a path of one name, and for '' itself. */
export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

/** '' for a root. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** '' for the directory itself, undefined for a path outside it. The roots '' and '/' hold every path of their kind. */
export function pathWithin(directory: string, path: string, separator = '/'): string | undefined {
  if (path === directory) return ''
  const start = directory === '' || directory.endsWith(separator) ? directory : directory + separator
  return path.startsWith(start) ? path.slice(start.length) : undefined
}

/** Also true for `directory` itself. */
export function isWithin(directory: string, path: string, separator = '/'): boolean {
  return pathWithin(directory, path, separator) !== undefined
}
