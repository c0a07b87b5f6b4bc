import { statfsSync } from 'node:fs'
import type { Clock } from '../../foundation/clock.ts'
import type { Logger } from '../../foundation/logger.ts'
import { type BackEndChoice, type ChosenBackEnd, chooseBackEnd, detectEvents } from './choose-back-end.ts'
import { openTreeWatcher } from './open-tree-watcher.ts'
import type { TreeWatcher, WatchBackEnd, WatchEvents } from './tree-watcher.ts'

export interface SystemWatchOptions {
  readonly wanted: 'auto' | ChosenBackEnd
  /** How often entries are looked at where the kernel does not report all changes. */
  readonly pollIntervalMs: number
  readonly clock: Clock
  readonly logger: Logger
}

/** How this machine watches a mirror: by the back end in its settings, or by the one that fits its platform and file system. */
export function systemWatch({ wanted, pollIntervalMs, clock, logger }: SystemWatchOptions) {
  const system = { platform: process.platform, statfs: statfsSync }
  return {
    choose: (root: string): BackEndChoice => chooseBackEnd(wanted, { root, ...system }),
    watch: (root: string, backEnd: WatchBackEnd, events: WatchEvents): Promise<TreeWatcher> => {
      const { areComplete } = detectEvents({ root, ...system })
      return openTreeWatcher({
        root,
        backEnd,
        events,
        pollIntervalMs: areComplete ? null : pollIntervalMs,
        clock,
        logger,
      })
    },
  }
}
