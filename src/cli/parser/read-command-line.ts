import { didYouMean } from '../../app/did-you-mean.ts'
import { isSettingFlag } from '../../app/settings/overrides.ts'
import { UsageError } from '../../foundation/errors.ts'
import { type ArgumentSpec, type ArgumentTable, type Command, nameOf } from '../command.ts'
import type { GlobalFlags } from '../context.ts'
import { GLOBAL_OPTIONS, optionsOf } from '../global-options.ts'
import { COLOR_CHOICES } from '../terminal/palette.ts'
import { type FoundCommand, listNextWords } from './find-command.ts'

export interface CommandLine {
  readonly flags: GlobalFlags
  readonly args: Readonly<Record<string, unknown>>
}

/** Reads the flags and arguments of a command; returns undefined if none is named. Throws UsageError('bad-usage'). */
export async function readCommandLine(
  found: FoundCommand,
  command: Command | undefined,
): Promise<CommandLine | undefined> {
  const options: ArgumentTable = { ...(command && optionsOf(command)), ...GLOBAL_OPTIONS }
  const { _: words, ...given } = needsNoParsing(found, command) ? { _: [] } : await parse(found.argv, options)
  const typed = words.map(String)
  if (!command) {
    if (typed[0] !== undefined) throw unknownCommand(found, typed[0])
    return undefined
  }
  const named = Object.entries(options).map(([name, spec]) => [camelCase(name), given[name] ?? defaultOf(spec)])
  return { flags: readFlags(given), args: { ...Object.fromEntries(named), ...assign(typed, command.positionals) } }
}

type Given = Readonly<Record<string, unknown>>

/** Returns whether yargs, which loads slowly, need not be loaded: nothing is given, and the command requires nothing. */
function needsNoParsing({ argv }: FoundCommand, command: Command | undefined): boolean {
  const requiresAny =
    command && Object.values({ ...command.options, ...command.positionals }).some(({ required }) => required)
  return argv.length === 0 && requiresAny === false
}

async function parse(argv: readonly string[], options: ArgumentTable) {
  const { parseFlags } = await import('./parse-flags.ts')
  return parseFlags(argv, options)
}

function unknownCommand({ path }: FoundCommand, word: string): UsageError {
  const group = path.map((each) => `${each} `).join('')
  const near = didYouMean(word, listNextWords(path), group)
  return new UsageError('bad-usage', `Cannot run "${group}${word}": unknown command${near}`)
}

function defaultOf(spec: ArgumentSpec): unknown {
  if (spec.array) return []
  return { boolean: false, count: 0, string: spec.default, number: spec.default }[spec.type]
}

function readFlags(options: Given): GlobalFlags {
  const texts = Object.entries(options).filter((each): each is [string, string] => typeof each[1] === 'string')
  const { config, ...others } = Object.fromEntries(texts)
  return {
    config,
    json: options.json === true,
    quiet: options.quiet === true,
    verbosity: Number(options.verbose ?? 0),
    color: COLOR_CHOICES.find((choice) => choice === options.color) ?? 'auto',
    settingFlags: Object.fromEntries(Object.entries(others).filter(([flag]) => isSettingFlag(flag))),
  }
}

/** Assigns words to positionals in order, without yargs, which would skip words after `--` and accept `--mirrors x` for a positional. */
function assign(words: readonly string[], table: ArgumentTable): Record<string, unknown> {
  const rest = [...words]
  const values = Object.entries(table).map(([name, spec]) => {
    if (spec.required && rest.length === 0) {
      throw new UsageError('bad-usage', `Cannot run without ${nameOf(name, spec)}: ${spec.describe}`)
    }
    const value = spec.array ? rest.splice(0) : rest.shift()
    if (typeof value === 'string' && spec.choices && !spec.choices.includes(value)) {
      const choices = spec.choices.join(', ')
      throw new UsageError('bad-usage', `Cannot use "${value}" for ${nameOf(name, spec)}: it is one of ${choices}`)
    }
    return [camelCase(name), value]
  })
  if (rest[0] === undefined) return Object.fromEntries(values)
  throw new UsageError('bad-usage', `Cannot understand "${rest[0]}": there is no place for a further argument`)
}

function camelCase(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}
