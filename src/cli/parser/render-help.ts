import { type ArgumentSpec, type ArgumentTable, type Command, nameOf, takesValue } from '../command.ts'
import { type CommandEntry, commands, GROUP_SUMMARIES } from '../commands.ts'
import { EXIT_CODES, type ExitName } from '../exit-codes.ts'
import { GLOBAL_OPTIONS, optionsOf } from '../global-options.ts'
import { wrapText } from '../render/layout.ts'
import { type FoundCommand, LIST, listNextWords } from './find-command.ts'

const WIDTH = 100

/** Longer lines are hard to read. */
const MAX_WIDTH = 120

/** Choices with more characters than this are listed in a sentence. */
const MAX_CHOICES_LENGTH = 30

const FIRST_STEPS = [
  ['sync ~/Papers', 'mirror a directory into the library on this computer'],
  ['search "spring tide"', 'search in what was mirrored'],
  ['init', 'set up a service, mirrors and the daemon, by questions'],
  ['doctor', 'check everything when something is wrong'],
] as const

const MORE = 'shelfd help COMMAND, or COMMAND --help, describes one command; shelfd version prints the version.'

type Row = readonly [name: string, meaning: string]

interface HelpOptions {
  readonly columns?: number | undefined
  /** Also shows the flags and exit codes that are the same everywhere. */
  readonly showsAll: boolean
}

export function renderHelp(
  { path, entry }: FoundCommand,
  command: Command | undefined,
  { columns = WIDTH, showsAll }: HelpOptions,
): string {
  const flags = command ? listFlags(showsAll ? optionsOf(command) : withoutRare(command)) : []
  const width = Math.min(columns, MAX_WIDTH)
  const examples = command?.examples ?? (path.length === 0 ? FIRST_STEPS : [])
  const sections = [
    ...(command && entry ? introduceCommand(entry, command, showsAll) : introduceGroup(path)).map((text) =>
      wrapText(text, width),
    ),
    ...(path.length === 0 ? listGroups(width) : [renderTable('Commands:', listCommands(path), width)]),
    renderTable('Arguments:', listArguments(command), width),
    renderTable('Flags:', flags, width),
    showsAll ? renderTable('Global flags:', listFlags(GLOBAL_OPTIONS), width) : '',
    renderTable(
      'Examples:',
      examples.map(([line, meaning]) => [`shelfd ${line}`, meaning]),
      width,
    ),
    wrapLines(
      showsAll ? renderExits(command?.exits) : `${usageOfAll(path)} shows all flags and the exit codes.`,
      width,
    ),
    ...(command || !showsAll ? [] : [wrapLines(MORE, width)]),
  ]
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`
}

function introduceCommand({ name, summary }: CommandEntry, command: Command, showsAll: boolean): string[] {
  const paragraphs = command.description?.split('\n\n') ?? []
  return [usageOf(name.split(' '), command), `${summary}.`, ...(showsAll ? paragraphs : paragraphs.slice(0, 1))]
}

function introduceGroup(path: readonly string[]): string[] {
  const about =
    GROUP_SUMMARIES[path.join(' ')] ?? 'Mirrors local directories into libraries of a Knowledge Library Service'
  return [`shelfd ${[...path, 'COMMAND'].join(' ')}`, `${about}.`]
}

/** The commands of the first groups, by their first words; all others are in the last one. */
const GROUPS: readonly (readonly [title: string, words: string])[] = [
  ['Every day:', 'sync search open get status report why dashboard pause resume failed history mirrors init doctor'],
  ['For programs, and the interface by hand:', 'libraries ls mkdir resource asset whoami api mcp completion'],
  ['Daemon, library on this computer, and configuration:', ''],
]

function listGroups(width: number): string[] {
  const named = new Set(GROUPS.flatMap(([, words]) => words.split(' ')))
  const rows = listCommands([])
  const wordOf = ([name]: Row) => name.slice('shelfd '.length)
  const rowsOf = (words: string) =>
    words === ''
      ? rows.filter((row) => !named.has(wordOf(row)))
      : words.split(' ').flatMap((word) => rows.filter((row) => wordOf(row) === word))
  return GROUPS.map(([title, words]) => renderTable(title, rowsOf(words), width))
}

function usageOfAll(path: readonly string[]): string {
  return `shelfd ${path.join(' ')} --help --all`
}

function listCommands(path: readonly string[]): Row[] {
  return listNextWords(path).map((word) => {
    const name = [...path, word].join(' ')
    return [`shelfd ${name}`, summaryOf(name)]
  })
}

export function summaryOf(name: string): string {
  return commands.find((entry) => entry.name === name)?.summary ?? GROUP_SUMMARIES[name] ?? ''
}

function listArguments(command: Command | undefined): Row[] {
  return Object.entries(command?.positionals ?? {}).map(([name, spec]) => [nameOf(name, spec), spec.describe])
}

function withoutRare({ options, rareOptions = [] }: Command): ArgumentTable {
  return Object.fromEntries(Object.entries(options).filter(([name]) => !rareOptions.includes(name)))
}

function listFlags(table: ArgumentTable): Row[] {
  return Object.entries(table).map(([name, spec]) => {
    return [`${spec.alias ? `-${spec.alias}, ` : '    '}--${name}`, describeFlag(spec)]
  })
}

function describeFlag(spec: ArgumentSpec): string {
  if (!takesValue(spec)) return spec.describe
  const { value, choices } = shownValue(spec)
  const details = [value, spec.default !== undefined && `default ${spec.default}`, spec.required && 'required']
  return `${spec.describe}${choices ? `. One of ${choices.join(', ')}` : ''} [${details.filter(Boolean).join(', ')}]`
}

/** Returns what the help shows as the value of a flag: short choices themselves, or else a word, with long choices apart. */
export function shownValue({ type, choices = [], placeholder }: ArgumentSpec): {
  readonly value: string
  readonly choices?: readonly string[]
} {
  const joined = choices.join('|')
  const word = placeholder || (type === 'number' ? 'N' : 'TEXT')
  return joined.length > MAX_CHOICES_LENGTH ? { value: word, choices } : { value: joined || word }
}

/** Renders a title with rows below it. A name that is too long for its column is not wrapped, because people copy examples. */
function renderTable(title: string, rows: readonly Row[], width: number): string {
  if (rows.length === 0) return ''
  const column = Math.min(Math.max(...rows.map(([name]) => name.length)), Math.floor(width / 2)) + 4
  const lines = rows.map(([name, meaning]) => {
    const gap = name.length + 4 <= column ? ' '.repeat(column - name.length - 2) : `\n${' '.repeat(column)}`
    return `  ${name}${gap}${wrapText(meaning, width, column)}`.trimEnd()
  })
  return [title, ...lines].join('\n')
}

/** Wraps each line; its continuation is aligned with the text after its first column. */
function wrapLines(text: string, width: number): string {
  return text
    .split('\n')
    .map((line) => {
      const start = /^\s*(?:\S+\s{2,})?/.exec(line)?.[0] ?? ''
      return `${start}${wrapText(line.slice(start.length), width, start.length)}`.trimEnd()
    })
    .join('\n')
}

export function usageOf(path: readonly string[], { positionals, options, settingFlags }: Command): string {
  const words = Object.entries(positionals).map(([name, spec]) => usageWord(name, spec))
  const flags = Object.keys(options).length + (settingFlags?.length ?? 0) > 0 ? ['[FLAGS]'] : []
  const called = path.map((word) => (word === LIST ? `[${word}]` : word))
  return ['shelfd', ...called, ...words, ...flags].join(' ')
}

function usageWord(name: string, spec: ArgumentSpec): string {
  const word = `${nameOf(name, spec)}${spec.array ? ' …' : ''}`
  return spec.required ? word : `[${word}]`
}

const allExits = Object.keys(EXIT_CODES).filter((name): name is ExitName => Object.hasOwn(EXIT_CODES, name))

function renderExits(exits: readonly ExitName[] | undefined): string {
  const rows = listExits(exits).map(({ code, meaning }) => `  ${String(code).padEnd(3)}  ${meaning}`)
  return ['Exit codes:', ...rows].join('\n')
}

/** Returns these exits and those of every command, in the order of EXIT_CODES. */
export function listExits(exits: readonly ExitName[] = allExits): readonly { code: number; meaning: string }[] {
  const named = new Set<ExitName>([...exits, 'usage', 'interrupted'])
  return allExits.filter((name) => named.has(name)).map((name) => EXIT_CODES[name])
}
