import { basename, resolve } from 'node:path'
import { systemCodeOf, UsageError } from '../../foundation/errors.ts'
import { readTextFile } from '../files/private-file.ts'
import { configCandidates, expandHome, type Surroundings } from './config-file/find-config-file.ts'
import { parseConfigFile } from './config-file/parse-file.ts'
import { isMapping } from './raw-settings.ts'

/**
 * Names of the mirrors in the configuration file, for completion. The file is not checked, because completion must be quick.
 * Returns no names if the file cannot be read, which the command itself will report.
 */
export function listMirrorNames(flag: string | undefined, around: Surroundings): readonly string[] {
  try {
    const mirrors = readMirrors(flag, around)
    return mirrors.filter(isMapping).flatMap(({ name, path }) => {
      if (typeof name === 'string') return [name]
      return typeof path === 'string' ? [basename(resolve(expandHome(path, around.home)))] : []
    })
  } catch (error) {
    if (error instanceof UsageError || systemCodeOf(error) !== undefined) return []
    throw error
  }
}

function readMirrors(flag: string | undefined, around: Surroundings): readonly unknown[] {
  for (const { file } of configCandidates(flag, around)) {
    const found = readTextFile(file)
    if (!found) continue
    const { mirrors } = parseConfigFile(file, found.text, around.env).raw
    return Array.isArray(mirrors) ? mirrors : []
  }
  return []
}
