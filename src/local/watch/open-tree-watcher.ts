import { nodeFileSystem } from '../read/file-system.ts'
import { inspectRoot } from '../read/inspect-root.ts'
import { NodeWatcher } from './node-watcher.ts'
import type { TreeWatcher, TreeWatcherOptions } from './tree-watcher.ts'
import { openWholeTreeWatcher } from './whole-tree-watcher.ts'

/**
 * Starts to watch a tree. `node` watches nothing before `add`; the other back ends watch the whole tree when the promise resolves.
 * Rejects with RootError where the root is missing, with TooManyEntriesError where scans cost less, and with any other error where
 * the back end cannot start (no watches left, a package without a binary for this platform): the caller scans at intervals instead.
 * The caller opens a new watcher of a whole tree after its root was gone.
 */
export async function openTreeWatcher(options: TreeWatcherOptions): Promise<TreeWatcher> {
  inspectRoot(nodeFileSystem, options.root)
  switch (options.backEnd) {
    case 'node':
      return new NodeWatcher(options)
    // These packages are loaded only where they are chosen, since they take memory.
    case 'parcel':
      return openWholeTreeWatcher(options, (await import('./parcel-watcher.ts')).watchWithParcel)
    case 'chokidar':
      return openChokidarWatcher(options)
  }
}

async function openChokidarWatcher(options: TreeWatcherOptions): Promise<TreeWatcher> {
  const { pollIntervalMs } = options
  const { pollWithChokidar, watchWithChokidar } = await import('./chokidar-watcher.ts')
  return pollIntervalMs === null
    ? openWholeTreeWatcher(options, watchWithChokidar)
    : openWholeTreeWatcher(options, pollWithChokidar(pollIntervalMs), pollIntervalMs)
}
