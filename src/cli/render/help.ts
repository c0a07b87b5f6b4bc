import { type ArgumentSpec, type ArgumentTable, type Command, nameOf, takesValue } from '../command.ts'
import type { CommandEntry } from '../commands.ts'
import { EXIT_CODES, type ExitName } from '../exit-codes.ts'
import { GLOBAL_OPTIONS, settingOptions } from '../global-options.ts'

type Row = readonly [left: string, right: string]

/** The help of one command: use, arguments, flags, examples and how it ends. */
export function renderCommandHelp(command: Command): string {
  const own = { ...command.options, ...settingOptions(command.settingFlags ?? []) }
  const positionals = Object.entries(command.positionals).map(
    ([name, spec]): Row => [nameOf(name, spec), spec.describe],
  )
  return joinSections([
    `shelfd ${[command.name, ...usageWords(command)].join(' ')}\n\n${command.summary}.`,
    command.description,
    section('Arguments', positionals),
    section('Flags', optionRows(own)),
    section('Global flags', optionRows(GLOBAL_OPTIONS)),
    section(
      'Examples',
      command.examples.map(([line, meaning]) => [`shelfd ${line}`, meaning]),
    ),
    section('Exit codes', exitRows(command.exits)),
  ])
}

/** The list of commands: all of them, or those of a group such as `libraries`. */
export function renderCommandList(entries: readonly CommandEntry[], prefix: string): string {
  const listed = prefix === '' ? entries : entries.filter(({ name }) => name.startsWith(`${prefix} `))
  return joinSections([
    `shelfd ${prefix === '' ? '' : `${prefix} `}COMMAND\n\nMirrors local directories into libraries of a Knowledge Library Service.`,
    section(
      'Commands',
      listed.map(({ name, summary }) => [name, summary]),
    ),
    section('Global flags', optionRows(GLOBAL_OPTIONS)),
    section('Exit codes', exitRows(allExits)),
    'shelfd help COMMAND, or COMMAND --help, tells more about each; shelfd version prints the version.',
  ])
}

const allExits = Object.keys(EXIT_CODES).filter((name): name is ExitName => Object.hasOwn(EXIT_CODES, name))

function usageWords({ positionals, options, settingFlags }: Command): string[] {
  const words = Object.entries(positionals).map(([name, spec]) => usageWord(name, spec))
  return Object.keys(options).length + (settingFlags?.length ?? 0) > 0 ? [...words, '[FLAGS]'] : words
}

function usageWord(name: string, spec: ArgumentSpec): string {
  const word = `${nameOf(name, spec)}${spec.array ? ' …' : ''}`
  return spec.required ? word : `[${word}]`
}

function optionRows(table: ArgumentTable): Row[] {
  return Object.entries(table).map(([name, spec]) => {
    const short = spec.alias ? `-${spec.alias}, ` : '    '
    const flag = spec.default === true ? `--no-${name}` : `--${name}`
    const value = takesValue(spec) ? ` ${optionValue(spec)}` : ''
    return [`${short}${flag}${value}`, `${spec.describe}${defaultNote(spec)}`]
  })
}

function optionValue(spec: ArgumentSpec): string {
  return spec.choices?.join('|') ?? spec.placeholder ?? (spec.type === 'number' ? 'N' : 'TEXT')
}

function defaultNote({ default: byDefault }: ArgumentSpec): string {
  return byDefault === undefined || typeof byDefault === 'boolean' ? '' : ` (default ${byDefault})`
}

function exitRows(exits: readonly ExitName[]): Row[] {
  const named = new Set<ExitName>([...exits, 'usage', 'interrupted'])
  return allExits
    .filter((name) => named.has(name))
    .map((name) => [String(EXIT_CODES[name].code), EXIT_CODES[name].meaning])
}

function section(title: string, rows: readonly Row[]): string | undefined {
  if (rows.length === 0) return undefined
  const width = Math.max(...rows.map(([left]) => left.length))
  return [`${title}:`, ...rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`.trimEnd())].join('\n')
}

function joinSections(sections: readonly (string | undefined)[]): string {
  return `${sections.filter((text) => text !== undefined).join('\n\n')}\n`
}
