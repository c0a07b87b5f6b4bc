import { parseArgs } from 'node:util'

export interface FuzzOptions {
  readonly requests: number
  readonly seed: number
  /** A folder of real documents that are spoiled and uploaded; undefined: a PDF and a film. */
  readonly documents: string | undefined
  /** Requests under way at a time. */
  readonly parallel: number
}

/** Reads the command line; throws an Error that names the wrong option. */
export function readOptions(argv: readonly string[]): FuzzOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      requests: { type: 'string', default: '20000' },
      seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
      parallel: { type: 'string', default: '4' },
      documents: { type: 'string' },
    },
  })
  return {
    requests: readNumber('requests', values.requests, 10_000_000),
    seed: readNumber('seed', values.seed, 2 ** 31),
    parallel: readNumber('parallel', values.parallel, 64),
    documents: values.documents,
  }
}

function readNumber(name: string, text: string, most: number): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= 1 && value <= most) return value
  throw new Error(`--${name} "${text}" must be a whole number from 1 to ${most}`)
}
