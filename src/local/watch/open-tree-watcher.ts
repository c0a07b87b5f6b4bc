import { statfsSync } from 'node:fs'
import type { Clock } from '../../foundation/clock.ts'
import type { Logger } from '../../foundation/logger.ts'
import { nodeFileSystem } from '../read/file-system.ts'
import { inspectRoot } from '../read/inspect-root.ts'
import { type BackEndChoice, chooseBackEnd, detectEvents } from './choose-back-end.ts'
import { NodeWatcher } from './node-watcher.ts'
import type { TreeWatcher, TreeWatcherOptions, WatchBackEnd, WatchEvents } from './tree-watcher.ts'

export interface SystemWatchOptions {
  readonly wanted: 'auto' | 'poll'
  /** How often entries are checked where the kernel does not report all changes. */
  readonly pollIntervalMs: number
  readonly clock: Clock
  readonly logger: Logger
}

/** Returns how this machine watches a mirror: by the back end that fits its platform and file system, or not at all. */
export function systemWatch({ wanted, pollIntervalMs, clock, logger }: SystemWatchOptions) {
  const system = { platform: process.platform, statfs: statfsSync }
  return {
    choose: (root: string): BackEndChoice => chooseBackEnd(wanted, { root, ...system }),
    watch: (root: string, backEnd: WatchBackEnd, events: WatchEvents): Promise<TreeWatcher> => {
      const { areComplete } = detectEvents({ root, ...system })
      const interval = areComplete ? null : pollIntervalMs
      return openTreeWatcher({ root, backEnd, events, pollIntervalMs: interval, clock, logger })
    },
  }
}

/**
 * Starts to watch a tree. `node` watches nothing before `add`; `chokidar` watches the whole tree when the promise resolves. Rejects
 * with RootError where the root is missing, with TooManyEntriesError where scans cost less, and with any other error where the back
 * end cannot start, as when no watches are left: the caller scans at intervals instead. The caller opens a new watcher of a whole
 * tree after its root was gone.
 */
export async function openTreeWatcher(options: TreeWatcherOptions): Promise<TreeWatcher> {
  inspectRoot(nodeFileSystem, options.root)
  if (options.backEnd === 'node') return new NodeWatcher(options)
  // The package is loaded only where it is chosen, since it takes memory.
  const { ChokidarWatcher } = await import('./chokidar-watcher.ts')
  return ChokidarWatcher.open(options)
}
