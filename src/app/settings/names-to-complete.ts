import { basename, resolve } from 'node:path'
import { ShelfdError, systemCodeOf } from '../../foundation/errors.ts'
import { openStoreReader } from '../../store/open-store.ts'
import { readTextFile } from '../files/private-file.ts'
import { configCandidates, expandHome, type Surroundings } from './config-file/find-config-file.ts'
import { parseConfigFile } from './config-file/parse-file.ts'
import { isMapping } from './raw-settings.ts'
import { findStateDir } from './state-dir.ts'

/**
 * Names of the mirrors in the configuration file, for completion. The file is not checked, because completion must be quick.
 * Returns no names if the file cannot be read, which the command itself will report.
 */
export function listMirrorNames(flag: string | undefined, around: Surroundings): readonly string[] {
  return namesOrNone(() =>
    readMirrors(flag, around).flatMap(({ name, path }) => {
      if (typeof name === 'string') return [name]
      return typeof path === 'string' ? [basename(resolve(expandHome(path, around.home)))] : []
    }),
  )
}

/** Names of the libraries in the configuration file, and of those that mirrors were ever pinned to: the service is not asked. */
export function listLibraryNames(flag: string | undefined, around: Surroundings): readonly string[] {
  const configured = namesOrNone(() =>
    readMirrors(flag, around).flatMap(({ library }) => (typeof library === 'string' ? [library] : [])),
  )
  const pinned = namesOrNone(() => {
    using store = openStoreReader(findStateDir({ ...around, flags: { config: flag } }))
    return store?.mirrors.list().map(({ library }) => library.name) ?? []
  })
  return [...new Set([...configured, ...pinned])]
}

function namesOrNone(list: () => readonly string[]): readonly string[] {
  try {
    return list()
  } catch (error) {
    if (error instanceof ShelfdError || systemCodeOf(error) !== undefined) return []
    throw error
  }
}

function readMirrors(flag: string | undefined, around: Surroundings): readonly Record<string, unknown>[] {
  for (const { file } of configCandidates(flag, around)) {
    const found = readTextFile(file)
    if (!found) continue
    const { mirrors } = parseConfigFile(file, found.text, around.env).raw
    return Array.isArray(mirrors) ? mirrors.filter(isMapping) : []
  }
  return []
}
