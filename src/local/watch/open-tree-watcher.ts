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
 * Chooses the back end that fits platform and file system, or none. `pollIntervalMs` applies where the kernel does not report all
 * changes.
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
 * `node` watches nothing before `add`; `chokidar` the whole tree. Rejects with RootError, with TooManyEntriesError where scans cost less,
 * and when no watches are left: then the caller scans at intervals. After the root was gone, open a new watcher.
 */
export async function openTreeWatcher(options: TreeWatcherOptions): Promise<TreeWatcher> {
  inspectRoot(boundedFileSystem, options.root)
  if (options.backEnd === 'node') return new NodeWatcher(options)
  // Loaded only where it is chosen, since it takes memory.
  const { ChokidarWatcher } = await import('./chokidar-watcher.ts')
  return ChokidarWatcher.open(options)
}

interface WatchedPlace {
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
 * On Linux our own watcher takes far less memory than chokidar. Where the kernel does not report all changes, chokidar checks every entry
 * of a small tree, and a large tree is scanned.
 */
export function chooseBackEnd(wanted: 'auto' | 'poll', place: WatchedPlace): BackEndChoice {
  if (wanted === 'poll') return { backEnd: 'poll', reason: 'chosen in the configuration' }
  const { areComplete, mayBlock, reason } = detectEvents(place)
  if (mayBlock) return { backEnd: 'poll', reason }
  if (!areComplete) return { backEnd: 'chokidar', reason: `polling: ${reason}` }
  return { backEnd: hasOwnEvents(place.platform) ? 'chokidar' : 'node', reason }
}

/** Returns whether the kernel reports every change, and how that is known. */
function detectEvents({ root, platform, statfs }: WatchedPlace): {
  readonly areComplete: boolean
  /** Calls may never return, so only scans in threads ask it. */
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
    const known = FILE_SYSTEMS.get(type)
    if (!known) return { areComplete: false, reason: `unknown file system 0x${type.toString(16)}` }
    if (known.isLocal) return { areComplete: true, reason: `local file system (${known.name})` }
    const reason = `other computers may change files on ${known.name} without an event`
    return { areComplete: false, mayBlock: true, reason }
  } catch (error) {
    const reason = `the kind of file system cannot be read: ${escapeText(messageOf(error))}`
    return { areComplete: false, mayBlock: systemCodeOf(error) === 'ETIMEDOUT', reason }
  }
}

function hasOwnEvents(platform: NodeJS.Platform): boolean {
  return platform === 'darwin' || platform === 'win32'
}
