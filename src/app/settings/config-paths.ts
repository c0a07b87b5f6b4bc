import { dirname, isAbsolute, join, resolve } from 'node:path'
import { baseDirectory, pathInHome } from '../../foundation/files/home.ts'
import { readTextFile } from '../files/private-files.ts'
import type { Environment } from './overrides.ts'
import { isMapping, type Raw } from './raw-settings.ts'

export interface Surroundings {
  readonly env: Environment
  readonly cwd: string
  /** The home directory; '' for a user without one. */
  readonly home: string
}

/** Returns the possible configuration files: the first that exists is used. A file named by `--config` or `SHELFD_CONFIG` must exist. */
export function configCandidates(flag: string | undefined, { env, cwd, home }: Surroundings) {
  const named = flag ?? (env.SHELFD_CONFIG || undefined)
  if (named !== undefined) return [{ file: resolve(cwd, expandHome(named, home)), isRequired: true }]
  const user = join(baseDirectory(env.XDG_CONFIG_HOME, home, '.config'), 'shelfd', 'config.yaml')
  const files = env.SHELFD_NO_SYSTEM_CONFIG ? [user] : [user, '/etc/shelfd/config.yaml']
  return files.map((file) => ({ file, isRequired: false }))
}

export function findConfigFile(flag: string | undefined, surroundings: Surroundings): string | undefined {
  const found = configCandidates(flag, surroundings).find(({ file, isRequired }) => isRequired || readTextFile(file))
  return found?.file
}

/** Returns `$XDG_DATA_HOME/shelfd/library`. */
export function defaultDataDir({ env, home }: Surroundings): string {
  return join(baseDirectory(env.XDG_DATA_HOME, home, join('.local', 'share')), 'shelfd', 'library')
}

/** Returns the first directory in systemd's `STATE_DIRECTORY`; without one, `$XDG_STATE_HOME/shelfd`. */
export function defaultStateDir({ env, home }: Surroundings): string {
  const ofSystemd = env.STATE_DIRECTORY?.split(':')[0]
  if (ofSystemd && isAbsolute(ofSystemd)) return ofSystemd
  return join(baseDirectory(env.XDG_STATE_HOME, home, join('.local', 'state')), 'shelfd')
}

export function expandHome(path: string, home: string): string {
  return path === '~' || path.startsWith('~/') ? pathInHome(home, path.slice(1)) : path
}

const PATH_KEYS =
  /^(stateDir|dataDir|mirrors\.\d+\.path)$|\.(tokenFile|caFile|certFile|keyFile|passphraseFile|passwordFile)$/
export const COMMAND_KEYS =
  /^(service\.tokenCommand|fleet\.passwordCommand|notify\.command)$|(^|\.)hooks\.(before|after)$/

/** Makes the paths in a configuration file absolute. A program without a slash stays, because it is searched on the PATH. */
export function withAbsolutePaths(raw: Raw, file: string, home: string): Raw {
  const absolute = (path: string) => resolve(dirname(file), expandHome(path, home))
  const convert = (value: unknown, path: readonly string[]): unknown => {
    const key = path.join('.')
    if (typeof value === 'string') return value !== '' && PATH_KEYS.test(key) ? absolute(value) : value
    if (isMapping(value)) {
      return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, convert(inner, [...path, name])]))
    }
    if (!Array.isArray(value)) return value
    const [program, ...args]: unknown[] = value
    if (typeof program === 'string' && program.includes('/') && COMMAND_KEYS.test(key))
      return [absolute(program), ...args]
    return value.map((item, index) => convert(item, [...path, String(index)]))
  }
  return Object.fromEntries(Object.entries(raw).map(([name, inner]) => [name, convert(inner, [name])]))
}
