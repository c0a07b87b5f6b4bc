import { type CommandEntry, commands } from '../commands.ts'
import { positionsOfWords } from '../global-options.ts'

/** Found before the flags of any command are known. */
export interface FoundCommand {
  /** Empty when there is none. */
  readonly path: readonly string[]
  /** `failed` stands for `failed list`; undefined for a group without a list. */
  readonly entry: CommandEntry | undefined
  /** The command line without these words, which may be anywhere in it. */
  readonly argv: readonly string[]
  /** The word after a group is not a command in it. */
  readonly isMistyped: boolean
}

/** What a group does without a further word. */
export const LIST = 'list'

/** Finds the longest name at the start of the words. */
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

/** In the order of the help. */
export function listNextWords(path: readonly string[]): string[] {
  const prefix = path.map((word) => `${word} `).join('')
  const below = commands.filter(({ name }) => name.startsWith(prefix))
  return [...new Set(below.map(({ name }) => name.slice(prefix.length).split(' ')[0] ?? ''))]
}
