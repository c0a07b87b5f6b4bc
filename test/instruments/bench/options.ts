import { parseArgs } from 'node:util'

export interface BenchOptions {
  /** The tree to work on; undefined: the best one this machine has. */
  readonly tree: string | undefined
  /** Rows to run; empty: all that are not off by default. */
  readonly only: readonly string[]
  /** Pairs to run of each comparison. */
  readonly runs: number
  /** Fewer pairs on a small tree: whether it all works, not how fast it is. */
  readonly quick: boolean
  readonly million: boolean
  /** Write the results into docs/development/benchmarks.md. */
  readonly write: boolean
}

/** Reads the command line; throws an Error that names what is wrong. */
export function readOptions(argv: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      tree: { type: 'string' },
      only: { type: 'string', multiple: true, default: [] },
      runs: { type: 'string' },
      quick: { type: 'boolean', default: false },
      million: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
    },
  })
  const runs = Number(values.runs ?? (values.quick ? 2 : 7))
  if (!Number.isInteger(runs) || runs < 1) throw new Error(`--runs "${values.runs}" must be a whole number above 0`)
  return { ...values, tree: values.tree, runs }
}
