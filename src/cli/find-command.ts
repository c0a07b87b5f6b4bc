import { didYouMean } from '../app/nearest.ts'
import { UsageError } from '../foundation/errors.ts'
import type { CommandEntry } from './commands.ts'
import { positionsOfWords } from './global-options.ts'

export type FoundCommand =
  | { readonly kind: 'command'; readonly entry: CommandEntry; readonly rest: readonly string[] }
  /** No command, or only the first words of some: `prefix` is empty or such as `libraries`. */
  | { readonly kind: 'group'; readonly prefix: string }

/** The command a command line names and what is left without its name; throws UsageError for an unknown one. */
export function findCommand(argv: readonly string[], entries: readonly CommandEntry[]): FoundCommand {
  const positions = positionsOfWords(argv)
  const words = positions.map((position) => argv[position] ?? '')
  for (let length = Math.min(3, words.length); length > 0; length -= 1) {
    const entry = entries.find(({ name }) => name === words.slice(0, length).join(' '))
    if (!entry) continue
    const named = new Set(positions.slice(0, length))
    return { kind: 'command', entry, rest: argv.filter((_, index) => !named.has(index)) }
  }
  return findGroup(words, entries)
}

function findGroup(words: readonly string[], entries: readonly CommandEntry[]): FoundCommand {
  const depth = words.findIndex((_, index) => !isGroup(words.slice(0, index + 1), entries))
  if (depth === -1) return { kind: 'group', prefix: words.join(' ') }
  const group = words.slice(0, depth)
  const word = words[depth] ?? ''
  const known = new Set(
    entries.filter(({ name }) => startsWith(name, group)).map(({ name }) => name.split(' ')[depth] ?? ''),
  )
  const prefix = group.map((part) => `${part} `).join('')
  throw new UsageError(
    'bad-usage',
    `Cannot run "${prefix}${word}": unknown command${didYouMean(word, [...known], prefix)}`,
  )
}

function isGroup(words: readonly string[], entries: readonly CommandEntry[]): boolean {
  return entries.some(({ name }) => startsWith(name, words))
}

function startsWith(name: string, words: readonly string[]): boolean {
  return words.length === 0 || name.startsWith(`${words.join(' ')} `)
}
