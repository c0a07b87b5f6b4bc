import { type CommandEntry, commands } from '../commands.ts'
import { positionsOfWords } from '../global-options.ts'

/** The command in a command line, found before the flags of any command are known. */
export interface FoundCommand {
  /** Words of a command or of a group of commands; empty when there is none. */
  readonly path: readonly string[]
  /** Undefined for a group without a list; a group that has one stands for it, as `failed` for `failed list`. */
  readonly entry: CommandEntry | undefined
  /** The command line without these words, which may be anywhere in it. */
  readonly argv: readonly string[]
  /** True if the word after a group is not the name of a command in it. */
  readonly isMistyped: boolean
}

/** What a group does when it is called without a further word, if it can. */
export const LIST = 'list'

/** Finds the longest name of a command or group at the start of the words. */
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

/** Lists the words that may follow these words, each once, in the order of the help. */
export function listNextWords(path: readonly string[]): string[] {
  const prefix = path.map((word) => `${word} `).join('')
  const below = commands.filter(({ name }) => name.startsWith(prefix))
  return [...new Set(below.map(({ name }) => name.slice(prefix.length).split(' ')[0] ?? ''))]
}
