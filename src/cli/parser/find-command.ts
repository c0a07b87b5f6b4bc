import { type CommandEntry, commands } from '../commands.ts'
import { positionsOfWords } from '../global-options.ts'

/** The command or group that a command line names, found before the flags of any command are known. */
export interface FoundCommand {
  /** The words of its name; empty when the command line names none. */
  readonly path: readonly string[]
  /** The command; for a group its list, such as `failed list` for `failed`; undefined for a group without a list. */
  readonly entry: CommandEntry | undefined
  /** The command line without the words of `path`, which need not be next to each other. */
  readonly argv: readonly string[]
  /** Whether no command is found because the word after `path` is not a command. */
  readonly isMistyped: boolean
}

/** The last word of the command that runs when only the name of its group is typed. */
export const LIST = 'list'

/** Finds the longest name of a command or group with which the words begin. */
export function findCommand(argv: readonly string[]): FoundCommand {
  const positions = positionsOfWords(argv)
  const words = positions.map((position) => argv[position] ?? '')
  const unknown = words.findIndex((_, index) => !isBeginning(words.slice(0, index + 1)))
  const path = unknown === -1 ? words : words.slice(0, unknown)
  const named = new Set(positions.slice(0, path.length))
  const entry = entryOf(path) ?? (unknown === -1 ? entryOf([...path, LIST]) : undefined)
  return {
    path,
    entry,
    argv: argv.filter((_, index) => !named.has(index)),
    isMistyped: entry === undefined && unknown !== -1,
  }
}

function entryOf(path: readonly string[]): CommandEntry | undefined {
  return commands.find(({ name }) => name === path.join(' '))
}

function isBeginning(words: readonly string[]): boolean {
  return commands.some(({ name }) => `${name} `.startsWith(`${words.join(' ')} `))
}

/** Returns the words that can follow, in the order of the help. */
export function listNextWords(path: readonly string[]): string[] {
  const prefix = path.map((word) => `${word} `).join('')
  const below = commands.filter(({ name }) => name.startsWith(prefix))
  return [...new Set(below.map(({ name }) => name.slice(prefix.length).split(' ')[0] ?? ''))]
}
