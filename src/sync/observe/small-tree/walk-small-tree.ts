import { budgetFileSystem, type ReadBudget } from '../../../local/read/budget-file-system.ts'
import { BatchCollector } from '../collect-batches.ts'
import type { ObservationBatch } from '../observation.ts'
import { type ChildDirectory, type Observer, observeDirectory } from '../observe-directory.ts'
import { scopeAt } from '../walk-tree.ts'

/** What a tree may take to count as small. */
export interface SmallTree extends ReadBudget {
  readonly durationMs: number
}

/** Starting a thread takes longer than this walk. */
export const SMALL_TREE: SmallTree = { calls: 4_000, bytes: 8 * 2 ** 20, durationMs: 100 }

/** The part of a tree that was walked, and the directories that are left, each with all below it. */
interface Walked {
  readonly batches: readonly ObservationBatch[]
  readonly rest: readonly string[]
}

/**
 * Walks a tree on this thread until it proves larger than `most`. The directory in which that comes out is left as well: what was
 * found of it is thrown away, so that every directory is observed wholly and once.
 */
export function walkSmallTree(observer: Observer, signal: AbortSignal, most: SmallTree = SMALL_TREE): Walked {
  const { clock } = observer
  const endMs = clock.monotonicMs() + most.durationMs
  const limited = budgetFileSystem(observer.fs, most, () => clock.monotonicMs() > endMs)
  const batches: ObservationBatch[] = []
  const stack: ChildDirectory[] = [{ path: '', scope: scopeAt(observer, '') }]
  for (let directory = stack.pop(); directory; directory = stack.pop()) {
    signal.throwIfAborted()
    const observed = observeWhole({ ...observer, fs: limited.fs }, directory, limited.isSpent)
    if (observed === undefined) return { batches, rest: [...stack, directory].map(({ path }) => path) }
    batches.push(...observed.batches)
    stack.push(...observed.children.toReversed())
  }
  return { batches, rest: [] }
}

interface Observed {
  readonly batches: readonly ObservationBatch[]
  readonly children: readonly ChildDirectory[]
}

/** Observes a directory of which nothing was observed yet; undefined when the budget ended meanwhile. */
export function observeWhole(
  observer: Observer,
  directory: ChildDirectory,
  isSpent: () => boolean,
): Observed | undefined {
  const collector = new BatchCollector()
  const batches: ObservationBatch[] = []
  try {
    const observing = observeDirectory(observer, directory, collector)
    let step = observing.next()
    for (; !step.done; step = observing.next()) batches.push(step.value)
    batches.push(collector.take())
    return isSpent() ? undefined : { batches, children: step.value }
  } catch (error) {
    if (isSpent()) return undefined
    throw error
  }
}
