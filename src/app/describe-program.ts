import { versions } from 'node:process'
import { defaultDataDir, findConfigFile, type Surroundings } from './settings/config-paths.ts'
import { findStateDir } from './settings/state-dir.ts'
import { version } from './version.ts'

/** Holds what runs here and where it keeps its files; nothing of it is secret, and no setting needs to be valid. */
export interface ProgramDescription {
  readonly version: string
  readonly node: string
  /** For instance `linux-x64`. */
  readonly platform: string
  readonly program: string
  /** Null when there is no configuration file. */
  readonly configFile: string | null
  readonly stateDir: string
  /** The directory of the embedded library unless the configuration names another place. */
  readonly defaultDataDir: string
}

export function describeProgram(around: Surroundings, config: string | undefined): ProgramDescription {
  return {
    version,
    node: versions.node,
    platform: `${process.platform}-${process.arch}`,
    program: process.argv[1] ?? process.execPath,
    configFile: findConfigFile(config, around) ?? null,
    stateDir: findStateDir({ ...around, flags: { config } }),
    defaultDataDir: defaultDataDir(around),
  }
}
