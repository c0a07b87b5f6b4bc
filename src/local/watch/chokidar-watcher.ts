import { once } from 'node:events'
import { type FSWatcher, watch } from 'chokidar'
import { TooManyEntriesError } from './tree-watcher.ts'
import type { WatchWholeTree } from './whole-tree-watcher.ts'

/** `atomic` is off, since it holds a deletion back for a while to report a replacement as one change: a hint at both does no harm. */
const OPTIONS = { followSymlinks: false, ignorePermissionErrors: true, atomic: false } as const

/** Watches every file and directory by the kernel's events, after a listing of its own; errors before it is ready reject. */
export const watchWithChokidar: WatchWholeTree = async (root, { onPath, onError }) => {
  const watcher = watch(root, { ...OPTIONS, ignoreInitial: true, backend: 'native' })
  watcher.on('all', (_, path) => onPath(path))
  await untilReady(watcher)
  watcher.on('error', onError)
  return () => watcher.close()
}

/** For more entries a scan takes less memory, and for many more also less time: an entry costs 5 KB and 17 µs for each look. */
const MAX_POLLED_ENTRIES = 5_000

/**
 * Looks at every file and directory each `intervalMs`, and so finds changes that no event of this kernel reports. Rejects with
 * TooManyEntriesError where the tree is too large for that, and calls `onError` with it when the tree becomes so.
 */
export function pollWithChokidar(intervalMs: number, maxEntries = MAX_POLLED_ENTRIES): WatchWholeTree {
  const polling = { backend: 'polling', pollingInterval: intervalMs, pollingBinaryInterval: intervalMs } as const
  return async (root, { onPath, onError }) => {
    const watcher = watch(root, { ...OPTIONS, ...polling, ignoreInitial: false })
    const tooMany = signalMoreThan(maxEntries, watcher)
    await untilReady(watcher, tooMany)
    tooMany.addEventListener('abort', () => onError(tooMany.reason), { once: true })
    watcher.on('all', (_, path) => onPath(path))
    watcher.on('error', onError)
    return () => watcher.close()
  }
}

/** Aborts with TooManyEntriesError once the watcher has found more files and directories than these. */
function signalMoreThan(maxEntries: number, watcher: FSWatcher): AbortSignal {
  const tooMany = new AbortController()
  let count = 0
  const add = () => {
    count += 1
    if (count > maxEntries) tooMany.abort(new TooManyEntriesError(maxEntries))
  }
  const remove = () => {
    count -= 1
  }
  watcher.on('add', add).on('addDir', add).on('unlink', remove).on('unlinkDir', remove)
  return tooMany.signal
}

async function untilReady(watcher: FSWatcher, signal?: AbortSignal): Promise<void> {
  try {
    await once(watcher, 'ready', { signal })
  } catch (error) {
    await watcher.close()
    throw signal?.aborted ? signal.reason : error
  }
}
