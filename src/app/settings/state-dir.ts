import { dirname, resolve } from 'node:path'
import { assertTrusted, readTextFile } from '../files/private-files.ts'
import { defaultStateDir, expandHome, findConfigFile } from './config-paths.ts'
import { readOverrides } from './overrides.ts'
import { parseConfigFile } from './parse-file.ts'
import type { SettingsInput } from './read-settings.ts'

/**
 * Finds the state directory when the configuration is invalid: from flag, variable or, if it can be parsed, the file;
 * otherwise the default.
 */
export function findStateDir(input: SettingsInput): string {
  const { stateDir } = readOverrides(input.flags, input.env, input.cwd).raw
  return (typeof stateDir === 'string' ? stateDir : stateDirOfFile(input)) ?? defaultStateDir(input)
}

function stateDirOfFile({ flags, readFile = readTextFile, ...around }: SettingsInput): string | undefined {
  try {
    const file = findConfigFile(flags.config, around)
    const source = file === undefined ? undefined : readFile(file)
    if (file === undefined || source === undefined) return undefined
    assertTrusted(file, source)
    const { stateDir } = parseConfigFile(file, source.text, around.env).raw
    return typeof stateDir === 'string' ? resolve(dirname(file), expandHome(stateDir, around.home)) : undefined
  } catch {
    return undefined // reading the whole configuration reports what is wrong with the file
  }
}
