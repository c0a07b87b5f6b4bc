import { versions } from 'node:process'
import { version } from '../foundation/version.ts'
import { defaultDataDir, findConfigFile, type Surroundings } from './settings/config-paths.ts'
import { findStateDir } from './settings/read-settings.ts'

/** Returns facts about this installation, without secrets, even if the configuration is invalid. */
export function describeProgram(surroundings: Surroundings, config: string | undefined) {
  return {
    version,
    node: versions.node,
    platform: `${process.platform}-${process.arch}`,
    program: process.argv[1] ?? process.execPath,
    /** Null when there is no configuration file. */
    configFile: findConfigFile(config, surroundings) ?? null,
    stateDir: findStateDir({ ...surroundings, flags: { config } }),
    /** The directory of the embedded library unless the configuration names another one. */
    defaultDataDir: defaultDataDir(surroundings),
  }
}
