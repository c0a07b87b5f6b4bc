import { systemClock } from '../../../foundation/clock.ts'
import { nodeFileSystem } from '../../../local/read/file-system.ts'
import type { StoreReader } from '../../../store/open-store.ts'
import { createObserver } from '../create-observer.ts'
import type { ObserveTree } from '../observation.ts'
import { walkInThreads } from '../observe-in-threads.ts'
import { SMALL_TREE, walkSmallTree } from './walk-small-tree.ts'

/**
 * Observes a small tree on this thread, which takes less than the start of another one; what is left of a larger tree is walked by
 * `threads` threads. While it walks, this thread does nothing else.
 */
export function observeTree(store: StoreReader, threads: number, most = SMALL_TREE): ObserveTree {
  return async function* observe(options, signal) {
    const observer = createObserver(store, options, { fs: nodeFileSystem, clock: systemClock })
    const { batches, rest } = walkSmallTree(observer, signal, most)
    yield* batches
    if (rest.length > 0) {
      await using walk = walkInThreads(threads, options, signal, rest)
      yield* walk
    }
    signal.throwIfAborted()
  }
}
