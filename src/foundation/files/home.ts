import { isAbsolute, join } from 'node:path'
import { UsageError } from '../errors.ts'
import { pathWithin } from './paths.ts'

const NO_HOME =
  'Cannot find your home directory: HOME is not set, and this user has no entry in the password database (/etc/passwd); set HOME, or each of XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_DATA_HOME and XDG_CACHE_HOME'

/** Throws UsageError('bad-usage') for a user without a home, whose `home` is ''. */
export function pathInHome(home: string, ...below: string[]): string {
  if (home === '') throw new UsageError('bad-usage', NO_HOME)
  return join(home, ...below)
}

/** A relative directory in the variable is ignored, as the XDG specification demands. Throws as `pathInHome` does. */
export function baseDirectory(given: string | undefined, home: string, usual: string): string {
  return given && isAbsolute(given) ? given : pathInHome(home, usual)
}

export function withTilde(home: string, path: string): string {
  const inHome = home === '' ? undefined : pathWithin(home, path)
  return inHome ? `~/${inHome}` : path
}
