import { systemClock } from '../../../foundation/clock.ts'
import { nodeFileSystem } from '../../../local/read/file-system.ts'
import type { OnRead } from '../../../local/read/read-meter.ts'
import type { StoreReader } from '../../../store/open-store.ts'
import { createObserver } from '../create-observer.ts'
import { amountOf, type ObserveTree, type WalkOptions } from '../observation.ts'
import type { Observer } from '../observe-directory.ts'
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
  return (options, signal, onRead) => {
    const observer = createObserver(store, options, { fs: nodeFileSystem, clock: systemClock })
    if (!options.isLarge || threads === 1 || isBusy) return observeUnknown(observer, options, signal, onRead)
    // The threads start at once, while this one asks the service.
    return walkInThreads({ threads, options, own: new StepWalker(observer), onRead }, signal, [''])
  }

  async function* observeUnknown(observer: Observer, options: WalkOptions, signal: AbortSignal, onRead?: OnRead) {
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
