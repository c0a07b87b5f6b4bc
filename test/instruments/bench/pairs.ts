import type { Measure } from './run-process.ts'

export interface Range {
  readonly low: number
  readonly high: number
}

export interface Compared {
  readonly oursSeconds: number
  readonly theirsSeconds: number
  /** Median over the pairs of our time by theirs. */
  readonly timeRatio: number
  /** The same of processor time; undefined where it isn't known. */
  readonly cpuRatio: number | undefined
  /** Between which the middle half of the ratios of time lies: a target in between can be neither met nor missed. */
  readonly timeRatios: Range
  /** How far the middle half of the peer's times spreads, by their median: what the machine does to the same work. */
  readonly noise: number
}

type Side = () => Promise<Measure>

/**
 * Runs A B A B …, after one unmeasured run of each, so that drift of the machine meets both sides alike. `prepare` runs
 * unmeasured before each side.
 */
export async function compareInPairs(
  runs: number,
  ours: Side,
  theirs: Side,
  prepare: () => Promise<unknown> = async () => {},
): Promise<Compared> {
  const measure = async (side: Side) => {
    await prepare()
    return side()
  }
  await measure(ours)
  await measure(theirs)
  const pairs: (readonly [Measure, Measure])[] = []
  for (let run = 0; run < runs; run += 1) pairs.push([await measure(ours), await measure(theirs)])
  const theirSeconds = pairs.map(([, b]) => b.seconds)
  const theirsSeconds = median(theirSeconds)
  const spread = middleHalf(theirSeconds)
  const timeRatios = pairs.map(([a, b]) => a.seconds / b.seconds)
  const cpuRatios = pairs.map(([a, b]) => (a.cpuSeconds ?? Number.NaN) / (b.cpuSeconds ?? Number.NaN))
  return {
    oursSeconds: median(pairs.map(([a]) => a.seconds)),
    theirsSeconds,
    timeRatio: median(timeRatios),
    timeRatios: middleHalf(timeRatios),
    cpuRatio: cpuRatios.every(Number.isFinite) ? median(cpuRatios) : undefined,
    noise: (spread.high - spread.low) / theirsSeconds,
  }
}

/** The medians of the lower and of the upper half, each with the value in the middle. */
function middleHalf(values: readonly number[]): Range {
  const sorted = values.toSorted((a, b) => a - b)
  const half = Math.ceil(sorted.length / 2)
  return { low: median(sorted.slice(0, half)), high: median(sorted.slice(-half)) }
}

/** The middle one; of an even number the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const [low = Number.NaN, high = Number.NaN] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[middle]]
  return (low + high) / 2
}
