import { isSettingFlag } from '../../app/settings/overrides.ts'
import { UsageError } from '../../foundation/errors.ts'
import { type ArgumentSpec, type ArgumentTable, type Command, nameOf } from '../command.ts'
import type { GlobalFlags } from '../context.ts'
import { GLOBAL_OPTIONS, optionsOf } from '../global-options.ts'
import { COLOR_CHOICES } from '../terminal/palette.ts'
import { describeChoice } from './describe-mistake.ts'
import type { FoundCommand } from './find-command.ts'

export interface CommandLine {
  readonly flags: GlobalFlags
  /** The arguments by camelCase name; switches and lists are always present. */
  readonly args: Readonly<Record<string, unknown>>
}

/** Reads the arguments of the found command by its tables; undefined without a command. Throws UsageError('bad-usage'). */
export async function readCommandLine(
  found: FoundCommand,
  command: Command | undefined,
): Promise<CommandLine | undefined> {
  const given = asksForNothing(found, command) ? NOTHING_GIVEN : await parse(found, command)
  if (!command || !given) return undefined
  const { _: words, ...options } = given
  const typed = Array.isArray(words) ? words.slice(found.path.length).map(String) : []
  const named = Object.entries({ ...GLOBAL_OPTIONS, ...optionsOf(command) }).map(([name, spec]) => {
    return [camelCase(name), options[name] ?? defaultOf(spec)]
  })
  return { flags: readFlags(options), args: { ...Object.fromEntries(named), ...assign(typed, command.positionals) } }
}

type Given = Readonly<Record<string, unknown>>

const NOTHING_GIVEN: Given = {}

/** Returns whether there are no arguments, as in `shelfd status`; then yargs, which takes time to load, is not needed. */
function asksForNothing({ argv, path }: FoundCommand, command: Command | undefined): boolean {
  const needed =
    command && Object.values({ ...command.options, ...command.positionals }).some(({ required }) => required)
  return argv.length === path.length && needed === false
}

async function parse(found: FoundCommand, command: Command | undefined): Promise<Given | undefined> {
  const { buildParser } = await import('./build-parser.ts')
  const { yargs, read } = buildParser({ found, command, argv: found.argv })
  yargs.parseSync()
  return read()
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

/**
 * Assigns words to arguments in order; a list at the end takes the rest. yargs has checked their number. Its own assignment
 * is not used: it skips words after `--` and values that begin with a dash, and takes `--mirrors x` for the argument.
 */
function assign(words: readonly string[], table: ArgumentTable): Record<string, unknown> {
  const rest = [...words]
  const values = Object.entries(table).map(([name, spec]) => {
    const value = spec.array ? rest.splice(0) : rest.shift()
    if (typeof value === 'string' && spec.choices && !spec.choices.includes(value)) {
      const message = describeChoice(nameOf(name, spec), `"${value}"`, spec.choices.join(', '))
      throw new UsageError('bad-usage', message)
    }
    return [camelCase(name), value]
  })
  return Object.fromEntries(values)
}

function camelCase(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}
