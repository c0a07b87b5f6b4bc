import Parser from 'yargs-parser'
import { didYouMean } from '../app/nearest.ts'
import { UsageError } from '../foundation/errors.ts'
import { type ArgumentSpec, type ArgumentTable, nameOf, takesValue } from './command.ts'

export interface ParsedArguments {
  /** By camelCase name; switches and lists are always present. */
  readonly options: Readonly<Record<string, unknown>>
  /** As typed, by flag; the last one where there are several. Only flags with a value. */
  readonly given: Readonly<Record<string, string>>
  readonly words: readonly string[]
}

/** Reads flags by their table and leaves the other words; throws UsageError('bad-usage') naming the nearest flag. */
export function parseOptions(argv: readonly string[], table: ArgumentTable): ParsedArguments {
  const { argv: parsed, error } = Parser.detailed([...argv], parserOptions(table))
  if (error) throw usage(`Cannot read the command line: ${lowerFirst(error.message)}`)
  const { _: words, ...given } = parsed
  const aliases = Object.values(table).map((spec) => spec.alias)
  const unknown = Object.keys(given).find((key) => !Object.hasOwn(table, key) && !aliases.includes(key))
  // The parser reads --no-x as x, and would tell of a flag that nobody typed.
  const typed = argv.includes(`--no-${unknown}`) ? `no-${unknown}` : unknown
  if (typed !== undefined) throw unknownFlag(typed, table)
  const options = Object.entries(table).map(([name, spec]) => [camelCase(name), readValue(name, spec, given[name])])
  return { options: Object.fromEntries(options), given: lastTexts(given), words: words.map(String) }
}

/** Assigns words to positionals in order; the last one takes the rest when it is a list. */
export function assignPositionals(words: readonly string[], table: ArgumentTable): Record<string, unknown> {
  const rest = [...words]
  const values = Object.entries(table).map(([name, spec]) => {
    const value = spec.array ? rest.splice(0) : rest.shift()
    if (spec.required && (value === undefined || value.length === 0)) {
      throw usage(`Cannot run without ${nameOf(name, spec)}: ${spec.describe}`)
    }
    return [camelCase(name), spec.array ? value : readValue(name, spec, value)]
  })
  if (rest[0] !== undefined) throw usage(`Cannot understand "${rest[0]}": there is no place for a further argument`)
  return Object.fromEntries(values)
}

function lastTexts(given: Readonly<Record<string, unknown>>): Record<string, string> {
  const texts = Object.entries(given).map(([name, value]) => [name, [value].flat().at(-1)])
  return Object.fromEntries(texts.filter(([, value]) => typeof value === 'string'))
}

function parserOptions(table: ArgumentTable) {
  const entries = Object.entries(table)
  const named = (keep: (spec: ArgumentSpec) => boolean) => entries.flatMap(([name, spec]) => (keep(spec) ? [name] : []))
  return {
    boolean: named((spec) => spec.type === 'boolean'),
    count: named((spec) => spec.type === 'count'),
    string: [...named(takesValue), '_'],
    narg: Object.fromEntries(named(takesValue).map((name) => [name, 1])),
    alias: Object.fromEntries(entries.flatMap(([name, { alias }]) => (alias ? [[name, alias]] : []))),
    configuration: { ...PARSING },
  }
}

const PARSING = {
  'camel-case-expansion': false,
  'dot-notation': false,
  'parse-numbers': false,
  'parse-positional-numbers': false,
} as const

/** The last of several wins, unless the flag is a list. */
function readValue(name: string, spec: ArgumentSpec, given: unknown): unknown {
  const all = [given ?? []].flat()
  if (spec.array) return all.map((one) => readScalar(name, spec, one))
  const last = all.at(-1) ?? spec.default
  if (spec.type === 'boolean') return last === true
  if (spec.type === 'count') return Number(last ?? 0)
  if (last !== undefined) return readScalar(name, spec, last)
  if (spec.required) throw usage(`Cannot run without --${name}: ${spec.describe}`)
  return undefined
}

function readScalar(name: string, spec: ArgumentSpec, value: unknown): string | number {
  const text = String(value)
  if (spec.choices && !spec.choices.includes(text)) {
    throw usage(`Cannot use "${text}" for --${name}: it is one of ${spec.choices.join(', ')}`)
  }
  if (spec.type !== 'number') return text
  const number = text.trim() === '' ? Number.NaN : Number(text)
  if (!Number.isFinite(number)) throw usage(`Cannot use "${text}" for --${name}: it must be a number`)
  return number
}

function unknownFlag(flag: string, table: ArgumentTable): UsageError {
  const dashes = flag.length === 1 ? '-' : '--'
  return usage(`Cannot understand the flag ${dashes}${flag}${didYouMean(flag, Object.keys(table), '--')}`)
}

function camelCase(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}

function usage(message: string): UsageError {
  return new UsageError('bad-usage', message)
}
