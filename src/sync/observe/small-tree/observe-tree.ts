import { systemClock } from '../../../foundation/clock.ts'
import { nodeFileSystem } from '../../../local/read/file-system.ts'
import type { StoreReader } from '../../../store/open-store.ts'
import { createObserver } from '../create-observer.ts'
import { amountOf, type ObserveTree } from '../observation.ts'
import { walkInThreads } from '../observe-in-threads.ts'
import { StepWalker } from './walk-in-steps.ts'
import { SMALL_TREE, type SmallTree, walkSmallTree } from './walk-small-tree.ts'

interface TreeOptions {
  readonly most?: SmallTree
  /** This thread has other work meanwhile: of a larger tree it walks only the beginning. */
  readonly isBusy?: boolean
}

/**
 * Observes a small tree on this thread, which takes less than the start of another one; what is left of a larger tree is walked by
 * `threads` threads, of which this one is one.
 */
export function observeTree(
  store: StoreReader,
  threads: number,
  { most = SMALL_TREE, isBusy = false }: TreeOptions = {},
): ObserveTree {
  return async function* observe(options, signal, onRead) {
    const observer = createObserver(store, options, { fs: nodeFileSystem, clock: systemClock })
    const { batches, rest } = walkSmallTree(observer, signal, most)
    for (const batch of batches) {
      onRead?.(amountOf(batch))
      yield batch
    }
    if (rest.length > 0) {
      const own = threads > 1 && !isBusy ? new StepWalker(observer) : undefined
      const others = isBusy ? Math.max(1, threads - 1) : threads
      await using walk = walkInThreads({ threads: others, options, own, onRead }, signal, rest)
      yield* walk
    }
    signal.throwIfAborted()
  }
}
