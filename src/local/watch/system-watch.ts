import { statfsSync } from 'node:fs'
import type { Clock } from '../../foundation/clock.ts'
import type { Logger } from '../../foundation/logger.ts'
import { type BackEndChoice, type ChosenBackEnd, chooseBackEnd } from './choose-back-end.ts'
import { openTreeWatcher } from './open-tree-watcher.ts'
import type { TreeWatcher, WatchBackEnd, WatchEvents } from './tree-watcher.ts'

/** How this machine watches, `wanted` by the user or as its platform and file system suggest. */
export function systemWatch(wanted: 'auto' | ChosenBackEnd, means: { readonly clock: Clock; readonly logger: Logger }) {
  return {
    choose: (root: string): BackEndChoice =>
      chooseBackEnd({ wanted, root, platform: process.platform, statfs: statfsSync }),
    watch: (root: string, backEnd: WatchBackEnd, events: WatchEvents): Promise<TreeWatcher> =>
      openTreeWatcher({ root, backEnd, events, ...means }),
  }
}
