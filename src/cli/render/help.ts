import { type ArgumentSpec, type ArgumentTable, type Command, nameOf, takesValue } from '../command.ts'
import type { CommandEntry } from '../commands.ts'
import { EXIT_CODES, type ExitName } from '../exit-codes.ts'
import { GLOBAL_OPTIONS, settingOptions } from '../global-options.ts'
import { wrapText } from './wrap.ts'

type Row = readonly [left: string, right: string]

/** Without a terminal, as in the documentation. */
const WIDTH = 100

/** Beyond this a line is hard to read, however wide the terminal. */
const WIDEST = 120

/** Choices that stand with their flag; longer ones stand in its text. */
const LONGEST_CHOICES = 30

/** The help of one command: use, arguments, flags, examples and how it ends. */
export function renderCommandHelp({ name, summary }: CommandEntry, command: Command, columns = WIDTH): string {
  const width = Math.min(columns, WIDEST)
  const own = { ...command.options, ...settingOptions(command.settingFlags ?? []) }
  const positionals = Object.entries(command.positionals).map(
    ([name, spec]): Row => [nameOf(name, spec), spec.describe],
  )
  return joinSections([
    `shelfd ${[name, ...usageWords(command)].join(' ')}`,
    wrapText(`${summary}.`, width),
    command.description && wrapText(command.description, width),
    section('Arguments', positionals, width),
    section('Flags', optionRows(own), width),
    section('Global flags', optionRows(GLOBAL_OPTIONS), width),
    section(
      'Examples',
      command.examples.map(([line, meaning]) => [`shelfd ${line}`, meaning]),
      width,
    ),
    section('Exit codes', exitRows(command.exits), width),
  ])
}

/** The list of commands: all of them, or those of a group such as `libraries`. */
export function renderCommandList(entries: readonly CommandEntry[], prefix: string, columns = WIDTH): string {
  const width = Math.min(columns, WIDEST)
  const listed = prefix === '' ? entries : entries.filter(({ name }) => name.startsWith(`${prefix} `))
  return joinSections([
    `shelfd ${prefix === '' ? '' : `${prefix} `}COMMAND`,
    wrapText('Mirrors local directories into libraries of a Knowledge Library Service.', width),
    section(
      'Commands',
      listed.map(({ name, summary }) => [name, summary]),
      width,
    ),
    section('Global flags', optionRows(GLOBAL_OPTIONS), width),
    section('Exit codes', exitRows(allExits), width),
    wrapText(
      'shelfd help COMMAND, or COMMAND --help, tells more about each; shelfd version prints the version.',
      width,
    ),
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
    const value = takesValue(spec) ? ` ${optionValue(name, spec)}` : ''
    return [`${short}${flag}${value}`, `${spec.describe}${choicesNote(name, spec)}${defaultNote(spec)}`]
  })
}

function optionValue(name: string, spec: ArgumentSpec): string {
  if (spec.choices) return hasLongChoices(spec) ? nameOf(name, spec) : spec.choices.join('|')
  return spec.placeholder ?? (spec.type === 'number' ? 'N' : 'TEXT')
}

function choicesNote(name: string, spec: ArgumentSpec): string {
  return hasLongChoices(spec) ? `. ${nameOf(name, spec)} is one of ${spec.choices?.join(', ')}` : ''
}

function hasLongChoices({ choices }: ArgumentSpec): boolean {
  return (choices?.join('|').length ?? 0) > LONGEST_CHOICES
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

/** The left sides in a column of at most half the width; the text of a longer one stands below it. */
function section(title: string, rows: readonly Row[], width: number): string | undefined {
  if (rows.length === 0) return undefined
  const lefts = rows.map(([left]) => left.length).filter((length) => length <= width / 2)
  const column = Math.max(0, ...lefts)
  const indent = column + 4
  const lines = rows.map(([left, right]) => {
    const gap = left.length <= column ? ' '.repeat(column - left.length + 2) : `\n${' '.repeat(indent)}`
    return `  ${left}${gap}${wrapText(right, width, indent)}`.trimEnd()
  })
  return [`${title}:`, ...lines].join('\n')
}

function joinSections(sections: readonly (string | undefined)[]): string {
  return `${sections.filter((text) => text !== undefined).join('\n\n')}\n`
}
