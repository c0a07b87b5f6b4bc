import { UsageError } from '../../foundation/errors.ts'
import { type Bounds, describeBounds, isWithin } from '../../foundation/text/bounds.ts'
import { type ArgumentSpec, type ArgumentTable, type Command, takesValue } from '../command.ts'
import { commands, GROUP_SUMMARIES } from '../commands.ts'
import { GLOBAL_OPTIONS, optionsOf } from '../global-options.ts'
import { createYargs, type YargsInput } from './create-yargs.ts'
import { describeMistake, type Expected, withDashes } from './describe-mistake.ts'
import type { FoundCommand } from './find-command.ts'
import type { Yargs } from './yargs-parts.ts'

export interface ParserInput {
  readonly found: FoundCommand
  /** The command of `found.entry`. */
  readonly command: Command | undefined
  /** The arguments for yargs: the command line, or a request for completions. */
  readonly argv: readonly string[]
  readonly shell?: string | undefined
  /** Adds the parts of the found command that only help shows. */
  readonly describe?: (parser: Yargs) => void
  readonly layout?: YargsInput['layout']
}

export interface Parser {
  readonly yargs: Yargs
  /** Returns the arguments that yargs has read for the command; undefined before. */
  read(): Readonly<Record<string, unknown>> | undefined
}

/** Words in yargs' help that are replaced here; its other texts are about mistakes. */
const HELP_WORDS: Readonly<Record<string, string>> = {
  'Options:': 'Flags:',
  'Positionals:': 'Arguments:',
}

const PARSING = {
  'boolean-negation': false,
  'camel-case-expansion': false,
  'dot-notation': false,
  'parse-positional-numbers': false,
} as const

/** Characters of choices that are shown in brackets; longer ones are shown in a sentence. */
const LONGEST_CHOICES = 30

/** Builds yargs with the names of all commands and the arguments of the found one. */
export function buildParser({ found, command, argv, shell, describe, layout }: ParserInput): Parser {
  const { path } = found
  const expected: Expected = {
    path,
    positionals: command?.positionals ?? {},
    options: { ...(command && optionsOf(command)), ...GLOBAL_OPTIONS },
    words: () => wordsOf(yargs, path.length),
  }
  const translate = (key: string, given: readonly unknown[]) =>
    describeMistake(key, given, expected) ?? HELP_WORDS[key] ?? key
  const yargs = createYargs({ argv, translate, shell, layout })
  let read: Readonly<Record<string, unknown>> | undefined
  yargs.usageConfiguration({ 'hide-types': true })
  yargs
    .scriptName('shelfd')
    .parserConfiguration(PARSING)
    .help(false)
    .version(false)
    .strictCommands()
    .strictOptions()
    .recommendCommands()
    .fail((message, error) => {
      throw message ? new UsageError('bad-usage', message.trim()) : error
    })
  declareOptions(yargs, GLOBAL_OPTIONS, 'Global flags:')
  declareLevel([])
  if (path.length === 0) describe?.(yargs)
  return { yargs, read: () => read }

  /** Declares what may follow these words: the next word of the found path or, at its end, every command and group. */
  function declareLevel(words: readonly string[]): void {
    const next = path[words.length]
    if (next !== undefined) {
      yargs.command(next, summaryOf([...words, next]), () => void declareFound([...words, next]), remember)
    } else for (const word of wordsAfter(words)) yargs.command(word, summaryOf([...words, word]))
  }

  function remember(given: Readonly<Record<string, unknown>>): void {
    read = given
  }

  function declareFound(words: readonly string[]): void {
    declareLevel(words)
    if (words.length < path.length) return
    describe?.(yargs)
    if (command) declareArguments(yargs, command)
  }
}

function summaryOf(words: readonly string[]): string {
  const name = words.join(' ')
  return commands.find((entry) => entry.name === name)?.summary ?? GROUP_SUMMARIES[name] ?? ''
}

/** Words that may follow these words, each once, in the order of the help. */
function wordsAfter(words: readonly string[]): Iterable<string> {
  const prefix = words.map((word) => `${word} `).join('')
  const below = commands.filter(({ name }) => name.startsWith(prefix))
  return new Set(below.map(({ name }) => name.slice(prefix.length).split(' ')[0] ?? ''))
}

function declareArguments(yargs: Yargs, command: Command): void {
  const specs = Object.values(command.positionals)
  const most = specs.some(({ array }) => array) ? Number.POSITIVE_INFINITY : specs.length
  // The words after a command are its arguments, not further commands.
  yargs.strictCommands(false).demandCommand(specs.filter(({ required }) => required).length, most)
  declareOptions(yargs, optionsOf(command), 'Flags:')
}

function declareOptions(yargs: Yargs, table: ArgumentTable, group: string): void {
  for (const [name, spec] of Object.entries(table)) {
    yargs.option(name, {
      group,
      describe: describeOption(spec),
      type: spec.type === 'number' ? 'string' : spec.type,
      // With 0, yargs reports a value that is given to a switch.
      nargs: takesValue(spec) ? 1 : 0,
      ...(spec.alias && { alias: spec.alias }),
      ...(spec.array && { array: true }),
      ...(spec.choices && { choices: spec.choices }),
      ...(spec.required && { demandOption: true }),
      ...(takesValue(spec) && { coerce: (given: unknown) => readValue(name, spec, given) }),
    })
  }
}

/** Takes the last of several values, unless the flag is a list. */
function readValue(name: string, spec: ArgumentSpec, given: unknown): unknown {
  const values = [given]
    .flat()
    .map((value) => (spec.type === 'number' ? readNumber(name, spec.bounds, String(value)) : value))
  return spec.array ? values : values.at(-1)
}

function readNumber(name: string, bounds: Bounds, text: string): number {
  const number = text.trim() === '' ? Number.NaN : Number(text)
  if (isWithin(number, bounds)) return number
  throw new Error(`Cannot use "${text}" for ${withDashes(name)}: it must be ${describeBounds(bounds)}`)
}

/** Describes a flag, with its value in brackets. */
function describeOption(spec: ArgumentSpec): string {
  if (!takesValue(spec)) return spec.describe
  const { value, choices } = shownValue(spec)
  const details = [value, spec.default !== undefined && `default ${spec.default}`, spec.required && 'required']
  return `${spec.describe}${choices ? `. One of ${choices.join(', ')}` : ''} [${details.filter(Boolean).join(', ')}]`
}

/** Describes what stands for the value of a flag: its few choices, or a word; longer choices are given beside it. */
export function shownValue({ type, choices = [], placeholder }: ArgumentSpec): {
  readonly value: string
  readonly choices?: readonly string[]
} {
  const joined = choices.join('|')
  const word = placeholder || (type === 'number' ? 'N' : 'TEXT')
  return joined.length > LONGEST_CHOICES ? { value: word, choices } : { value: joined || word }
}

/** Returns the words that yargs read neither as flags nor as their values, without the words of the command. */
function wordsOf(yargs: Yargs, depth: number): readonly string[] {
  const parsed = yargs.parsed
  if (!parsed) return []
  const { _: words, '--': rest = [] } = parsed.argv
  return [...words.slice(depth), ...(Array.isArray(rest) ? rest : [])].map(String)
}
