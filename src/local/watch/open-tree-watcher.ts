import { nodeFileSystem } from '../read/file-system.ts'
import { inspectRoot } from '../read/inspect-root.ts'
import { NodeWatcher } from './node-watcher.ts'
import type { TreeWatcher, TreeWatcherOptions } from './tree-watcher.ts'
import { openWholeTreeWatcher } from './whole-tree-watcher.ts'

/**
 * Begins to watch a tree. `node` watches nothing before `add`; the others are complete when the promise resolves.
 * Rejects with RootError where there is no root to watch, and with any error where the back end cannot begin (no watches left,
 * a package without a binary for this platform): poll instead. A whole-tree watcher whose root was gone is to be begun anew.
 */
export async function openTreeWatcher(options: TreeWatcherOptions): Promise<TreeWatcher> {
  inspectRoot(nodeFileSystem, options.root)
  switch (options.backEnd) {
    case 'node':
      return new NodeWatcher(options)
    // Loaded where they are chosen only: they take memory.
    case 'parcel':
      return openWholeTreeWatcher(options, (await import('./parcel-watcher.ts')).watchWithParcel)
    case 'chokidar':
      return openWholeTreeWatcher(options, (await import('./chokidar-watcher.ts')).watchWithChokidar)
  }
}
