import { basename, resolve } from 'node:path'
import { readTextFile } from '../../app/files/private-files.ts'
import { configCandidates, expandHome, type Surroundings } from '../../app/settings/config-paths.ts'
import { parseConfigFile } from '../../app/settings/parse-file.ts'
import { isMapping } from '../../app/settings/raw-settings.ts'
import { findStateDir } from '../../app/settings/state-dir.ts'
import { ShelfdError, systemCodeOf } from '../../foundation/errors.ts'
import { openStoreReader } from '../../store/open-store.ts'
import { type ArgumentSpec, type ArgumentTable, type Command, takesValue } from '../command.ts'
import { commands } from '../commands.ts'
import { COMPLETION_REQUEST, GLOBAL_OPTIONS, optionsOf, positionsOfWords } from '../global-options.ts'
import type { CliIo } from '../terminal/cli-io.ts'
import { buildParser } from './build-parser.ts'
import { findCommand } from './find-command.ts'
import type { Yargs } from './yargs-parts.ts'

/** Letters as long flags, which are removed: yargs offers `--q` besides `--quiet`. */
const LONG_LETTER = /^--\w(?=$|[:\t])/

/**
 * Lists completions of the last word as lines in the format of the shell in SHELL. An empty list means a file: shells then
 * offer the entries of the directory. `words` begins with the name of the program.
 */
export async function listCompletions([, ...words]: readonly string[], io: CliIo): Promise<readonly string[]> {
  const before = words.slice(0, -1)
  const current = words.at(-1) ?? ''
  if (before.includes('--')) return []
  const found = findCommand(before, commands)
  if (found.isMistyped) return []
  const command = await found.entry?.load()
  const previous = findFlag(before.at(-1), command)
  if (previous && takesValue(previous) && !previous.choices)
    return offer(listArguments(previous, io, before), current, io)
  const request = [COMPLETION_REQUEST, 'shelfd', ...found.argv, current]
  const { yargs } = buildParser({ found, command, argv: request, shell: io.env.SHELL })
  const offered = await ask(yargs, request)
  if (current.startsWith('-')) return offered.filter((line) => !LONG_LETTER.test(line))
  const wanted = offered.filter((line) => !line.startsWith('-'))
  if (wanted.length > 0 || !command) return wanted
  const typed = positionsOfWords(found.argv).length - found.path.length
  return offer(listArguments(findPositional(command, typed), io, before), current, io)
}

/** Filtered here: shells offer files only for an empty list, and some shells do not filter by the typed word. */
function offer(names: readonly string[], current: string, { env }: CliIo): readonly string[] {
  const fitting = names.filter((each) => each.startsWith(current))
  // zsh reads the text after the first colon as a description.
  return env.SHELL?.includes('zsh') ? fitting.map((each) => each.replaceAll(':', '\\:')) : fitting
}

/** Finds a flag by its whole name or its letter. */
function findFlag(word: string | undefined, command: Command | undefined): ArgumentSpec | undefined {
  const table: ArgumentTable = { ...(command && optionsOf(command)), ...GLOBAL_OPTIONS }
  return Object.entries(table).find(([name, { alias }]) => word === `--${name}` || word === `-${alias}`)?.[1]
}

function findPositional({ positionals }: Command, index: number): ArgumentSpec | undefined {
  const specs = Object.values(positionals)
  const last = specs.at(-1)
  return specs[index] ?? (last?.array ? last : undefined)
}

function listArguments(spec: ArgumentSpec | undefined, io: CliIo, before: readonly string[]): readonly string[] {
  if (!spec?.completes) return spec?.choices ?? []
  const config = before.includes('--config') ? before[before.lastIndexOf('--config') + 1] : undefined
  return spec.completes === 'mirrors' ? listMirrorNames(config, io) : listLibraryNames(config, io)
}

/** yargs calls back once for each level of commands; the last call has the lines. */
async function ask(yargs: Yargs, request: readonly string[]): Promise<readonly string[]> {
  let lines = ''
  await yargs.parseAsync(request, {}, (_error, _argv, output) => {
    lines = output
  })
  return lines.split('\n').filter((line) => line !== '')
}

/**
 * Names of the mirrors in the configuration file, for completion. The file is not checked, because completion must be quick.
 * Returns no names if the file cannot be read, which the command itself will report.
 */
function listMirrorNames(flag: string | undefined, around: Surroundings): readonly string[] {
  return namesOrNone(() =>
    readMirrors(flag, around).flatMap(({ name, path }) => {
      if (typeof name === 'string') return [name]
      return typeof path === 'string' ? [basename(resolve(expandHome(path, around.home)))] : []
    }),
  )
}

/** Names of the libraries in the configuration file, and of those that mirrors were ever pinned to: the service is not asked. */
function listLibraryNames(flag: string | undefined, around: Surroundings): readonly string[] {
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
