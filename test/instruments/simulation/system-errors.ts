/** Errors as Node throws them for a call of the system. */

export function fail(code: string, path: string): never {
  throw Object.assign(new Error(`${code}: ${path}`), { code, errno: -1, path })
}

export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && 'errno' in error
}
