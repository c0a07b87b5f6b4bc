import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'

export interface SimulateOptions {
  readonly from: number
  readonly seeds: number
  readonly jobs: number
  /** Ends with the first seed that breaks a promise. */
  readonly untilFailure: boolean
  /** One seed alone, with its whole trace. */
  readonly only: number | null
}

/** Reads the command line; throws an Error that names what is wrong. */
export function readOptions(argv: readonly string[]): SimulateOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      seeds: { type: 'string', default: '1000' },
      from: { type: 'string', default: '1' },
      jobs: { type: 'string', default: String(availableParallelism()) },
      'until-failure': { type: 'boolean', default: false },
      seed: { type: 'string' },
    },
  })
  return {
    from: readCount('from', values.from),
    seeds: readCount('seeds', values.seeds),
    jobs: readCount('jobs', values.jobs),
    untilFailure: values['until-failure'],
    only: values.seed === undefined ? null : readCount('seed', values.seed),
  }
}

function readCount(name: string, text: string): number {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value > 0) return value
  throw new Error(`--${name} "${text}" must be a whole number above 0`)
}
