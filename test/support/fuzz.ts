import type { Parameters } from 'fast-check'

const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31)
const TIMES = Number(process.env.FUZZ_TIMES ?? 1)

/**
 * How a fuzzer runs: `runs` times, or FUZZ_TIMES times as often. A failure prints its seed, which FUZZ_SEED repeats.
 */
export function fuzzing(runs: number): Parameters<unknown> {
  return { seed: SEED, numRuns: runs * TIMES, endOnFailure: TIMES > 1 }
}
