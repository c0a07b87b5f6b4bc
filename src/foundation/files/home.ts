import { isAbsolute, join } from 'node:path'
import { UsageError } from '../errors.ts'
import { pathWithin } from './paths.ts'

const NO_HOME =
  'Cannot find your home directory: HOME is not set, and this user has no entry in the password database (/etc/passwd); set HOME, or each of XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_DATA_HOME and XDG_CACHE_HOME'

/** Returns a path in the home directory. Throws UsageError('bad-usage') for a user without one, whose `home` is ''. */
export function pathInHome(home: string, ...below: string[]): string {
  if (home === '') throw new UsageError('bad-usage', NO_HOME)
  return join(home, ...below)
}

/** Returns the value of an XDG variable, or `usual` in the home if it is no absolute path, as XDG demands. Throws like `pathInHome`. */
export function baseDirectory(value: string | undefined, home: string, usual: string): string {
  return value && isAbsolute(value) ? value : pathInHome(home, usual)
}

export function withTilde(home: string, path: string): string {
  const inHome = home === '' ? undefined : pathWithin(home, path)
  return inHome ? `~/${inHome}` : path
}
