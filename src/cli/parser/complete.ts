import { basename, resolve } from 'node:path'
import { readTextFile } from '../../app/files/private-files.ts'
import { configCandidates, expandHome, type Surroundings } from '../../app/settings/config-paths.ts'
import { parseConfigFile } from '../../app/settings/parse-file.ts'
import { isMapping } from '../../app/settings/raw-settings.ts'
import { findStateDir } from '../../app/settings/read-settings.ts'
import { ShelfdError, systemCodeOf } from '../../foundation/errors.ts'
import { openStoreReader } from '../../store/open-store.ts'
import { type ArgumentSpec, type ArgumentTable, type Command, takesValue } from '../command.ts'
import { GLOBAL_OPTIONS, optionsOf, positionsOfWords } from '../global-options.ts'
import type { CliIo } from '../terminal/cli-io.ts'
import { type FoundCommand, findCommand, listNextWords } from './find-command.ts'
import { summaryOf } from './render-help.ts'

type Offer = readonly [word: string, meaning?: string]

/** Returns completions in the format of the shell that SHELL names; for none, the shell offers files. `words[0]` is the program. */
export async function listCompletions([, ...words]: readonly string[], io: CliIo): Promise<readonly string[]> {
  const before = words.slice(0, -1)
  const current = words.at(-1) ?? ''
  if (before.includes('--')) return []
  const found = findCommand(before)
  if (found.isMistyped) return []
  const command = await found.entry?.load()
  const options: ArgumentTable = { ...(command && optionsOf(command)), ...GLOBAL_OPTIONS }
  return listOffers(found, command, { options, before, current, io })
    .filter(([word]) => word.startsWith(current))
    .map((offer) => toLine(offer, io.env.SHELL))
}

/** A command line up to the cursor: `current` is the word to complete, `before` are the words before it. */
interface TypedLine {
  readonly options: ArgumentTable
  readonly before: readonly string[]
  readonly current: string
  readonly io: CliIo
}

function listOffers(found: FoundCommand, command: Command | undefined, line: TypedLine): Offer[] {
  const { options, before, current, io } = line
  const previous = Object.entries(options).find(([name, spec]) => isFlag(before.at(-1), name, spec))?.[1]
  if (previous && takesValue(previous)) return listValues(previous, io, before)
  if (current.startsWith('-')) return listFlags(line)
  const typed = positionsOfWords(found.argv).length
  const next = typed === 0 ? listNextWords(found.path) : []
  if (next.length > 0) return next.map((word) => [word, summaryOf([...found.path, word].join(' '))])
  return command ? listValues(findPositional(command, typed), io, before) : []
}

function listFlags({ options, before }: TypedLine): Offer[] {
  return Object.entries(options)
    .filter(([name, spec]) => spec.array || !before.some((word) => isFlag(word, name, spec)))
    .map(([name, { describe }]) => [`--${name}`, describe])
}

function isFlag(word: string | undefined, name: string, { alias }: ArgumentSpec): boolean {
  return word === `--${name}` || word === `-${alias}`
}

/** Returns the line for an offer: zsh reads a description after a colon, fish after a tab; bash shows none. */
function toLine([word, meaning]: Offer, shell = ''): string {
  if (shell.includes('zsh')) return [word.replaceAll(':', '\\:'), ...(meaning ? [meaning] : [])].join(':')
  return shell.includes('fish') && meaning ? `${word}\t${meaning}` : word
}

function findPositional({ positionals }: Command, index: number): ArgumentSpec | undefined {
  const specs = Object.values(positionals)
  const last = specs.at(-1)
  return specs[index] ?? (last?.array ? last : undefined)
}

function listValues(spec: ArgumentSpec | undefined, io: CliIo, before: readonly string[]): Offer[] {
  const config = before.includes('--config') ? before[before.lastIndexOf('--config') + 1] : undefined
  const names = {
    mirrors: () => listMirrorNames(config, io),
    libraries: () => listLibraryNames(config, io),
  }
  const words = spec?.completes ? names[spec.completes]() : (spec?.choices ?? [])
  return words.map((word) => [word])
}

/** Returns the names of the mirrors in the configuration file, which is not validated, because that takes longer. */
function listMirrorNames(flag: string | undefined, surroundings: Surroundings): readonly string[] {
  return namesOrNone(() =>
    readMirrors(flag, surroundings).flatMap(({ name, path }) => {
      if (typeof name === 'string') return [name]
      return typeof path === 'string' ? [basename(resolve(expandHome(path, surroundings.home)))] : []
    }),
  )
}

/** Returns the libraries that the configuration names, and those to which mirrors are pinned; it does not ask the service. */
function listLibraryNames(flag: string | undefined, surroundings: Surroundings): readonly string[] {
  const configured = namesOrNone(() =>
    readMirrors(flag, surroundings).flatMap(({ library }) => (typeof library === 'string' ? [library] : [])),
  )
  const pinned = namesOrNone(() => {
    using store = openStoreReader(findStateDir({ ...surroundings, flags: { config: flag } }))
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

function readMirrors(flag: string | undefined, surroundings: Surroundings): readonly Record<string, unknown>[] {
  for (const { file } of configCandidates(flag, surroundings)) {
    const found = readTextFile(file)
    if (!found) continue
    const { mirrors } = parseConfigFile(file, found.text, surroundings.env).raw
    return Array.isArray(mirrors) ? mirrors.filter(isMapping) : []
  }
  return []
}
