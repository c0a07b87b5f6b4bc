import { listLibraryNames, listMirrorNames } from '../../app/settings/names-to-complete.ts'
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
