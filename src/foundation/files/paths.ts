/** Paths below a mirror's directory are relative, with `/` between names; '' is the directory itself. Others are absolute. */

/** `directory` may be ''. */
export function joinPath(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`
}

/** Returns the directory of a path; '' for a path of one name, and for ''. */
export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

/** Returns the last name of a path; '' for a root. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Returns a path relative to `directory`; '' for the directory itself, undefined outside it. The roots '' and '/' hold all their paths. */
export function pathWithin(directory: string, path: string, separator = '/'): string | undefined {
  if (path === directory) return ''
  const start = directory === '' || directory.endsWith(separator) ? directory : directory + separator
  return path.startsWith(start) ? path.slice(start.length) : undefined
}

/** Returns whether a path is `directory` or lies in it. */
export function isWithin(directory: string, path: string, separator = '/'): boolean {
  return pathWithin(directory, path, separator) !== undefined
}
