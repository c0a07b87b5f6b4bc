import yargs from 'yargs'
import { didYouMean } from '../../app/did-you-mean.ts'
import { UsageError } from '../../foundation/errors.ts'
import { type Bounds, describeBounds, isWithin } from '../../foundation/text/bounds.ts'
import { type ArgumentSpec, type ArgumentTable, takesValue } from '../command.ts'

export interface Parsed {
  readonly [name: string]: unknown
  readonly _: readonly (string | number)[]
}

const PARSING = {
  'boolean-negation': false,
  'camel-case-expansion': false,
  'dot-notation': false,
  'parse-positional-numbers': false,
} as const

/** Parses the flags in `argv`. Throws UsageError('bad-usage') for the first mistake. */
export function parseFlags(argv: readonly string[], options: ArgumentTable): Parsed {
  // Given any directory, yargs does not ask for the working directory, which may have been removed.
  const parser = yargs([...argv], '/')
    .detectLocale(false)
    .parserConfiguration(PARSING)
    .help(false)
    .version(false)
    .exitProcess(false)
    .strictOptions()
    .fail((message, error) => {
      throw message ? new UsageError('bad-usage', describeMistake(message.trim(), options)) : error
    })
  for (const [name, spec] of Object.entries(options)) {
    parser.option(name, {
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
  return parser.parseSync()
}

/** Returns all values of a flag that is a list, and the last value of any other flag. */
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

/** Returns our own message for the first mistake that a message of yargs names. */
function describeMistake(message: string, options: ArgumentTable): string {
  const [, unknown] = /^Unknown arguments?: ([^,]+)/.exec(message) ?? []
  if (unknown !== undefined) {
    return `Cannot understand the flag ${withDashes(unknown)}${didYouMean(unknown, Object.keys(options), '--')}`
  }
  const [, missing] = /^Missing required arguments?: ([^,]+)/.exec(message) ?? []
  if (missing !== undefined) return `Cannot run without ${withDashes(missing)}: ${options[missing]?.describe}`
  const [, valueless] = /^Not enough arguments following: (.+)/.exec(message) ?? []
  if (valueless !== undefined) return `Cannot use ${withDashes(valueless)} without a value`
  const [, toggle] = /^Argument unexpected for: (.+)/.exec(message) ?? []
  if (toggle !== undefined) {
    return `Cannot use ${withDashes(toggle)} with a value: it is a switch, so write ${withDashes(toggle)} alone`
  }
  const [, flag, value, choices = ''] = /Argument: ([^,]+), Given: (.*), Choices: (.*)/s.exec(message) ?? []
  if (flag === undefined) return message
  return `Cannot use ${value} for ${withDashes(flag)}: it is one of ${choices.replaceAll('"', '')}`
}

function withDashes(flag: string): string {
  return flag.length === 1 ? `-${flag}` : `--${flag}`
}
