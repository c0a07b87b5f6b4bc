import { isAbsolute, join } from 'node:path'
import { UsageError } from '../errors.ts'
import { pathWithin } from './paths.ts'

const NO_HOME =
  'Cannot find your home directory: HOME is not set, and this user has no entry in the password database (/etc/passwd); set HOME, or each of XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_DATA_HOME and XDG_CACHE_HOME'

/** A path in the home directory; throws UsageError('bad-usage') for a user without one, whose `home` is ''. */
export function pathInHome(home: string, ...below: string[]): string {
  if (home === '') throw new UsageError('bad-usage', NO_HOME)
  return join(home, ...below)
}

/**
 * The base directory that a variable gives (XDG Base Directory Specification: a relative one is invalid and ignored), otherwise the
 * usual one in the home directory; throws as `pathInHome` does.
 */
export function baseDirectory(given: string | undefined, home: string, usual: string): string {
  return given && isAbsolute(given) ? given : pathInHome(home, usual)
}

/** A path for people, with `~` for the home directory. */
export function withTilde(home: string, path: string): string {
  const inHome = home === '' ? undefined : pathWithin(home, path)
  return inHome ? `~/${inHome}` : path
}
