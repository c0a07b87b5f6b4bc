import { parseArgs } from 'node:util'

export interface KillOptions {
  /** Kills to be done, unless the time is over before. */
  readonly count: number
  readonly minutes: number
  /** Of the first round; each further one has the next. */
  readonly seed: number
  /** Only the round of `seed`, as a failed one is had again. */
  readonly isOneRound: boolean
  /** Rounds at the same time. */
  readonly atOnce: number
}

/** Reads the command line; throws an Error that names what is wrong. */
export function readOptions(argv: readonly string[]): KillOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      count: { type: 'string', default: '5000' },
      minutes: { type: 'string', default: '600' },
      seed: { type: 'string', default: '1' },
      round: { type: 'string' },
      'at-once': { type: 'string', default: '2' },
    },
  })
  return {
    count: readNumber('count', values.count, 1, 10_000_000),
    minutes: readNumber('minutes', values.minutes, 0.01, 100_000),
    seed: readNumber('seed', values.round ?? values.seed, 0, 2 ** 32),
    isOneRound: values.round !== undefined,
    atOnce: readNumber('at-once', values['at-once'], 1, 64),
  }
}

function readNumber(name: string, text: string, least: number, most: number): number {
  const value = text.trim() === '' ? Number.NaN : Number(text)
  if (value >= least && value <= most) return value
  throw new Error(`--${name} "${text}" must be a number from ${least} to ${most}`)
}
