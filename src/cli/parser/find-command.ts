import type { CommandEntry } from '../commands.ts'
import { positionsOfWords } from '../global-options.ts'

/** The command in a command line, found before the flags of any command are known. */
export interface FoundCommand {
  /** Words of a command or of a group of commands; empty when there is none. */
  readonly path: readonly string[]
  /** Undefined for a group. */
  readonly entry: CommandEntry | undefined
  /** The command line with these words first, because yargs searches them before it knows which flags have values. */
  readonly argv: readonly string[]
  /** True if the word after a group is not the name of a command in it. */
  readonly isMistyped: boolean
}

/** Finds the longest name of a command or group at the start of the words. */
export function findCommand(argv: readonly string[], entries: readonly CommandEntry[]): FoundCommand {
  const positions = positionsOfWords(argv)
  const words = positions.map((position) => argv[position] ?? '')
  const isKnown = (_: string, index: number) => isBeginning(words.slice(0, index + 1), entries)
  const unknown = words.findIndex((word, index) => !isKnown(word, index))
  const path = unknown === -1 ? words : words.slice(0, unknown)
  const named = new Set(positions.slice(0, path.length))
  const entry = entries.find(({ name }) => name === path.join(' '))
  return {
    path,
    entry,
    argv: [...path, ...argv.filter((_, index) => !named.has(index))],
    isMistyped: entry === undefined && unknown !== -1,
  }
}

function isBeginning(words: readonly string[], entries: readonly CommandEntry[]): boolean {
  return entries.some(({ name }) => `${name} `.startsWith(`${words.join(' ')} `))
}
