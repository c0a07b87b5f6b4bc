import { type ArgumentSpec, type Command, nameOf } from '../command.ts'
import { GROUP_SUMMARIES } from '../commands.ts'
import { EXIT_CODES, type ExitName } from '../exit-codes.ts'
import { buildParser } from './build-parser.ts'
import type { FoundCommand } from './find-command.ts'
import { HelpLayout } from './help-layout.ts'
import type { Yargs } from './yargs-parts.ts'

/** The width without a terminal, as in the documentation. */
const WIDTH = 100

/** The largest width: longer lines are hard to read on any terminal. */
const WIDEST = 120

/** Returns the help of the found command or group; without one the list of all commands. */
export async function renderHelp(found: FoundCommand, command: Command | undefined, columns = WIDTH): Promise<string> {
  const describe = (yargs: Yargs) =>
    command ? describeCommand(yargs, found, command) : describeGroup(yargs, found.path)
  const layout = (width: number) => new HelpLayout(width)
  const { yargs } = buildParser({ found, command, argv: found.path, describe, layout })
  yargs.wrap(Math.min(columns, WIDEST))
  return `${await yargs.getHelp()}\n`
}

const FIRST_STEPS = [
  ['sync ~/Papers', 'mirror a directory into the library on this computer'],
  ['search "spring tide"', 'search in what was mirrored'],
  ['init', 'set up a service, mirrors and the daemon, by questions'],
  ['doctor', 'check everything when something is wrong'],
] as const

function describeGroup(yargs: Yargs, path: readonly string[]): void {
  const about =
    GROUP_SUMMARIES[path.join(' ')] ?? 'Mirrors local directories into libraries of a Knowledge Library Service'
  yargs.usage(`shelfd ${[...path, 'COMMAND'].join(' ')}\n\n${about}.`)
  if (path.length === 0) for (const [example, meaning] of FIRST_STEPS) yargs.example(`shelfd ${example}`, meaning)
  const more = 'shelfd help COMMAND, or COMMAND --help, describes one command; shelfd version prints the version.'
  yargs.epilogue(`${renderExits(allExits)}\n\n${more}`)
}

function describeCommand(yargs: Yargs, { entry, path }: FoundCommand, command: Command): void {
  const { positionals, description, examples, exits } = command
  yargs.usage([usageOf(path, command), `${entry?.summary}.`, ...(description ? [description] : [])].join('\n\n'))
  for (const [name, spec] of Object.entries(positionals))
    yargs.positional(nameOf(name, spec), { describe: spec.describe })
  for (const [example, meaning] of examples) yargs.example(`shelfd ${example}`, meaning)
  yargs.epilogue(renderExits(exits))
}

/** Returns the command line of a command: `shelfd why PATH [FLAGS]`. */
export function usageOf(path: readonly string[], { positionals, options, settingFlags }: Command): string {
  const words = Object.entries(positionals).map(([name, spec]) => usageWord(name, spec))
  const flags = Object.keys(options).length + (settingFlags?.length ?? 0) > 0 ? ['[FLAGS]'] : []
  return ['shelfd', ...path, ...words, ...flags].join(' ')
}

function usageWord(name: string, spec: ArgumentSpec): string {
  const word = `${nameOf(name, spec)}${spec.array ? ' …' : ''}`
  return spec.required ? word : `[${word}]`
}

const allExits = Object.keys(EXIT_CODES).filter((name): name is ExitName => Object.hasOwn(EXIT_CODES, name))

function renderExits(exits: readonly ExitName[]): string {
  const rows = listExits(exits).map(({ code, meaning }) => `  ${String(code).padEnd(3)}  ${meaning}`)
  return ['Exit codes:', ...rows].join('\n')
}

/** Returns the exits of a command, with those that every command has, in the order of the table. */
export function listExits(exits: readonly ExitName[] = allExits): readonly { code: number; meaning: string }[] {
  const named = new Set<ExitName>([...exits, 'usage', 'interrupted'])
  return allExits.filter((name) => named.has(name)).map((name) => EXIT_CODES[name])
}
