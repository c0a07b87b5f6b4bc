import type { Clock } from '../../foundation/clock.ts'
import { messageOf, systemCodeOf } from '../../foundation/errors.ts'
import type { Logger } from '../../foundation/logger.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import { boundedFileSystem } from '../read/bounded-file-system.ts'
import { FILE_SYSTEMS } from '../read/file-system-kinds.ts'
import { inspectRoot } from '../read/open-and-recheck-root.ts'
import { NodeWatcher } from './node-watcher.ts'
import type { TreeWatcher, TreeWatcherOptions, WatchBackEnd, WatchEvents } from './tree-watcher.ts'

/**
 * Returns `choose`, which chooses the back end that fits platform and file system, and `watch`, which starts it. `pollIntervalMs` applies
 * where the kernel does not report all changes.
 */
export function systemWatch(wanted: 'auto' | 'poll', pollIntervalMs: number, clock: Clock, logger: Logger) {
  const system = { platform: process.platform, statfs: boundedFileSystem.statfsSync }
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
 * Starts a watcher: `node` watches nothing before `add`, `chokidar` watches the whole tree. Rejects with RootError, with
 * TooManyEntriesError, or with the system's error when it allows no more watches. After the root was gone, open a new watcher.
 */
export async function openTreeWatcher(options: TreeWatcherOptions): Promise<TreeWatcher> {
  inspectRoot(boundedFileSystem, options.root)
  if (options.backEnd === 'node') return new NodeWatcher(options)
  // chokidar is loaded only when it is chosen, because it takes memory.
  const { ChokidarWatcher } = await import('./chokidar-watcher.ts')
  return ChokidarWatcher.open(options)
}

interface WatchedRoot {
  readonly root: string
  readonly platform: NodeJS.Platform
  /** On Linux `type` is the magic number of the file system. */
  readonly statfs: (path: string) => { readonly type: number }
}

export interface BackEndChoice {
  /** `poll`: no watcher, the daemon scans at intervals. */
  readonly backEnd: WatchBackEnd | 'poll'
  readonly reason: string
}

/**
 * Returns `poll` where calls may never return, `node` for local file systems on Linux, since it takes far less memory than chokidar, and
 * otherwise `chokidar`, which polls unless the kernel reports all changes.
 */
export function chooseBackEnd(wanted: 'auto' | 'poll', watched: WatchedRoot): BackEndChoice {
  if (wanted === 'poll') return { backEnd: 'poll', reason: 'chosen in the configuration' }
  const { areComplete, mayBlock, reason } = detectEvents(watched)
  if (mayBlock) return { backEnd: 'poll', reason }
  if (!areComplete) return { backEnd: 'chokidar', reason: `polling: ${reason}` }
  return { backEnd: hasOwnEvents(watched.platform) ? 'chokidar' : 'node', reason }
}

/** Returns whether the kernel reports every change, and how that is known. */
function detectEvents({ root, platform, statfs }: WatchedRoot): {
  readonly areComplete: boolean
  /** If true, calls on the file system may never return, so that only threads that scan may make them. */
  readonly mayBlock?: boolean
  readonly reason: string
} {
  if (hasOwnEvents(platform)) return { areComplete: true, reason: 'the system reports all changes' }
  if (platform !== 'linux' && platform !== 'android') {
    return { areComplete: false, reason: `watching on ${platform} is untested` }
  }
  try {
    // Some systems return a negative magic number.
    const type = statfs(root).type >>> 0
    const kind = FILE_SYSTEMS.get(type)
    if (!kind) return { areComplete: false, reason: `unknown file system 0x${type.toString(16)}` }
    if (kind.isLocal) return { areComplete: true, reason: `local file system (${kind.name})` }
    const reason = `other computers may change files on ${kind.name} without an event`
    return { areComplete: false, mayBlock: true, reason }
  } catch (error) {
    const reason = `the kind of file system cannot be read: ${escapeText(messageOf(error))}`
    return { areComplete: false, mayBlock: systemCodeOf(error) === 'ETIMEDOUT', reason }
  }
}

function hasOwnEvents(platform: NodeJS.Platform): boolean {
  return platform === 'darwin' || platform === 'win32'
}
