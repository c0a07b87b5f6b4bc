import { didYouMean } from '../../app/did-you-mean.ts'
import { type ArgumentTable, nameOf } from '../command.ts'

/** The parts of the named command that describe mistakes. */
export interface Expected {
  /** Words of the command: `['libraries', 'create']`. */
  readonly path: readonly string[]
  readonly positionals: ArgumentTable
  /** All accepted flags. */
  readonly options: ArgumentTable
  /** Returns the arguments as typed, without the words of the command. */
  words(): readonly string[]
}

/** Translates yargs' English message into our words; undefined for texts that are about no mistake of a user. */
export function describeMistake(key: string, given: readonly unknown[], expected: Expected): string | undefined {
  const [what = '', value = '', choices = ''] = given.map(String)
  switch (key) {
    case 'Unknown argument: %s':
      return describeUnknownFlag(firstOf(what), expected.options)
    case 'Not enough arguments following: %s':
      return `Cannot use ${withDashes(what)} without a value`
    case 'Argument unexpected for: %s':
      return `Cannot use ${withDashes(what)} with a value: it is a switch, so write ${withDashes(what)} alone`
    case 'Missing required argument: %s':
      return `Cannot run without ${withDashes(firstOf(what))}: ${expected.options[firstOf(what)]?.describe}`
    case 'Not enough non-option arguments: got %s, need at least %s':
      return describeMissing(Number(what), expected)
    case 'Too many non-option arguments: got %s, maximum of %s':
      return `Cannot understand "${expected.words()[Number(value)]}": there is no place for a further argument`
    case 'Unknown command: %s':
      return describeUnknownCommand(expected)
    case 'Did you mean %s?':
      return `${describeUnknownCommand(expected)} (did you mean "${[...expected.path, what].join(' ')}"?)`
    case 'Argument: %s, Given: %s, Choices: %s':
      return describeChoice(withDashes(what), value, choices.replaceAll('"', ''))
    case 'Invalid values:':
      return ''
  }
}

/** Returns the message for a value that is not among the choices; `value` has its quotes already. */
export function describeChoice(of: string, value: string, choices: string): string {
  return `Cannot use ${value} for ${of}: it is one of ${choices}`
}

export function withDashes(flag: string): string {
  return flag.length === 1 ? `-${flag}` : `--${flag}`
}

function describeUnknownFlag(flag: string, options: ArgumentTable): string {
  return `Cannot understand the flag ${withDashes(flag)}${didYouMean(flag, Object.keys(options), '--')}`
}

function describeUnknownCommand({ path, words }: Expected): string {
  return `Cannot run "${[...path, words()[0]].join(' ')}": unknown command`
}

function describeMissing(index: number, { positionals }: Expected): string {
  const [name, spec] = Object.entries(positionals)[index] ?? []
  return `Cannot run without ${name && spec ? `${nameOf(name, spec)}: ${spec.describe}` : 'a further argument'}`
}

/** Returns the first name: only the first of several mistakes of one kind is reported. */
function firstOf(names: string): string {
  return names.split(', ')[0] ?? ''
}
