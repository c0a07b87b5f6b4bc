import { median } from '../bench/pairs.ts'
import type { Sample } from './sample.ts'

export type Flatness = 'flat' | 'growing' | 'unknown'

/** Medians of the three thirds of a run, and the verdict on them. */
export interface Judgement {
  readonly thirds: readonly number[]
  readonly flatness: Flatness
}

/** Compares the last third with the middle one; the first third is for warming up. */
export const LAW =
  'flat: the median of the last third is at most 1.05 × that of the middle third + 4 MB (memory), + 2 (descriptors)'

const MIN_SAMPLES = 9

export function judgeMemory(samples: readonly Pick<Sample, 'residentBytes'>[]): Judgement {
  return judge(
    samples.map(({ residentBytes }) => residentBytes),
    (middle) => middle * 1.05 + 4e6,
  )
}

export function judgeDescriptors(samples: readonly Pick<Sample, 'descriptors'>[]): Judgement {
  return judge(
    samples.map(({ descriptors }) => descriptors),
    (middle) => middle + 2,
  )
}

function judge(values: readonly number[], mostOf: (middle: number) => number): Judgement {
  const third = values.length / 3
  const thirds = [0, 1, 2].map((at) => median(values.slice(Math.round(at * third), Math.round((at + 1) * third))))
  const [, middle = Number.NaN, last = Number.NaN] = thirds
  if (values.length < MIN_SAMPLES) return { thirds, flatness: 'unknown' }
  return { thirds, flatness: last <= mostOf(middle) ? 'flat' : 'growing' }
}
