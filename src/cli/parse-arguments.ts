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
  checkSpelling(argv, table)
  const { argv: parsed, error } = Parser.detailed([...argv], parserOptions(table))
  if (error) throw parserError(error, table)
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

/** What the parser would silently read in some way: a switch with a value, and a flag with a value denied with `--no-`. */
function checkSpelling(argv: readonly string[], table: ArgumentTable): void {
  const end = argv.indexOf('--')
  for (const word of end === -1 ? argv : argv.slice(0, end)) {
    const [, flag = '', denied, name = '', value] = /^(--?(no-)?([^=]+))(=.*)?$/s.exec(word) ?? []
    const spec = specOf(denied ? name : flag.replace(/^-+/, ''), table)
    if (!spec) continue
    if (denied && takesValue(spec)) throw unknownFlag(`no-${name}`, table)
    if (value !== undefined && !takesValue(spec))
      throw usage(`Cannot use ${flag} with a value: it is a switch, so write ${flag} alone`)
  }
}

function specOf(flag: string, table: ArgumentTable): ArgumentSpec | undefined {
  return table[flag] ?? Object.values(table).find(({ alias }) => alias === flag)
}

/** The parser names only the flag at fault, in a sentence of its own. */
function parserError(error: Error, table: ArgumentTable): UsageError {
  const flag = /: ([\w-]+)$/.exec(error.message)?.[1]
  const [name] = Object.entries(table).find(([key, { alias }]) => flag === key || flag === alias) ?? []
  return usage(name === undefined ? 'Cannot read the command line' : `Cannot use --${name} without a value`)
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

function usage(message: string): UsageError {
  return new UsageError('bad-usage', message)
}
