import { parseArgs } from 'node:util'

export interface SoakOptions {
  readonly minutes: number
  /** Files of all trees together, on average. */
  readonly files: number
  readonly changesPerSecond: number
  /** Seed of all random numbers, so that the changes of a run can be repeated. */
  readonly seed: number
}

/** Directories are small, so that moving one moves few files. */
export const DIRECTORIES_PER_FILE = 1 / 10

/** A tree needs so many files: if half of it is gone between two scans, the daemon halts. */
const FILES_PER_CHANGE_PER_SECOND = 200

/** Reads the command line; throws an Error that names the wrong option. */
export function readOptions(argv: readonly string[]): SoakOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      minutes: { type: 'string', default: '30' },
      files: { type: 'string', default: '3000' },
      'changes-per-second': { type: 'string', default: '10' },
      seed: { type: 'string', default: '20261121' },
    },
  })
  const changesPerSecond = readNumber('changes-per-second', values['changes-per-second'], 0.01, 1_000)
  const fewest = Math.max(60, FILES_PER_CHANGE_PER_SECOND * changesPerSecond)
  return {
    minutes: readNumber('minutes', values.minutes, 0.1, 10_080),
    files: Math.round(readNumber('files', values.files, fewest, 1_000_000)),
    changesPerSecond,
    seed: readNumber('seed', values.seed, 0, 2 ** 32),
  }
}

function readNumber(name: string, text: string, least: number, most: number): number {
  const value = text.trim() === '' ? Number.NaN : Number(text)
  if (value >= least && value <= most) return value
  throw new Error(`--${name} "${text}" must be a number from ${least} to ${most}`)
}
