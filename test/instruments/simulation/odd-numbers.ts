import { seededRandom } from '../../support/random.ts'

/** Numbers that few disks report. */
export interface OddNumbers {
  /** Inodes count from here. */
  readonly firstInode: bigint
  /** The date that somebody gives a file that was written; undefined: none. */
  nextDateNs(nowNs: bigint): bigint | undefined
}

const YEAR_NS = 365n * 86_400_000_000_000n

const FAR_NS = [10_413_792_000_000_000_000n, -11_644_473_600_000_000_000n, 2n ** 90n, -(2n ** 90n), 0n]

/**
 * Dates before 1677, after 2262 and in the future, of each written file with this chance, and inodes that use all 64 bits, with or without a
 * sign; undefined where the chance is 0.
 */
export function oddNumbers(seed: number, share: number): OddNumbers | undefined {
  if (share === 0) return undefined
  const random = seededRandom(seed * 374_761_393)
  return {
    firstInode: random() < 0.5 ? 2n ** 64n - 2n ** 20n : -(2n ** 62n),
    nextDateNs: (nowNs) => {
      if (random() >= share) return undefined
      const dates = [...FAR_NS, nowNs + YEAR_NS, nowNs + 1_000_000_000n]
      return dates[Math.floor(random() * dates.length)]
    },
  }
}
