import { type Churner, contentsBelow } from './churn.ts'

/** A directory that was mirrored while it was changed. */
export interface ChurnedTree {
  readonly root: string
  readonly churner: Churner
}

export interface ChurnPace {
  /** A content that was unchanged for less must not be mirrored. */
  readonly settleMs: number
  /** A content that was unchanged for longer must have been seen. */
  readonly surelySeenMs: number
}

/** SHA-256 of contents that are not mirrored as they should be; all lists of a good daemon are empty. */
export interface ChurnAccount {
  /** More than one resource. */
  readonly twice: readonly string[]
  /** There at the end, and no resource. */
  readonly missing: readonly string[]
  /** Was unchanged for long, is gone, and no resource. */
  readonly overlooked: readonly string[]
  /** A resource, though it was never unchanged for long enough. */
  readonly fleeting: readonly string[]
}

/** Compares all resources of a library, a SHA-256 each, with what was settled in the trees that were mirrored into it. */
export function accountChurn(
  trees: readonly ChurnedTree[],
  resources: readonly string[],
  { settleMs, surelySeenMs }: ChurnPace,
): ChurnAccount {
  const stored = new Set(resources)
  const rested = trees.flatMap(({ churner }) => longerThan(churner.restedMs, surelySeenMs))
  const settled = new Set(trees.flatMap(({ churner }) => longerThan(churner.untouchedMs, settleMs * 0.9)))
  return {
    twice: resources.filter((sha256, at) => resources.indexOf(sha256) !== at),
    missing: trees.flatMap(({ root }) => [...contentsBelow(root)]).filter((sha256) => !stored.has(sha256)),
    overlooked: rested.filter((sha256) => !stored.has(sha256)),
    fleeting: [...stored].filter((sha256) => !settled.has(sha256)),
  }
}

function longerThan(times: ReadonlyMap<string, number>, leastMs: number): string[] {
  return [...times].filter(([, ms]) => ms > leastMs).map(([sha256]) => sha256)
}
