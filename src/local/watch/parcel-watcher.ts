import { subscribe } from '@parcel/watcher'
import type { WatchWholeTree } from './whole-tree-watcher.ts'

/**
 * Watches by FSEvents or ReadDirectoryChangesW, on Linux by inotify, where it loses the directories below one that was moved or
 * renamed. It watches ignored directories too, since a rule of the user may bring back paths that the built-in list ignores.
 */
export const watchWithParcel: WatchWholeTree = async (root, { onPath, onError }) => {
  const subscription = await subscribe(root, (error, events) => {
    if (error) onError(error)
    else for (const { path } of events) onPath(path)
  })
  return () => subscription.unsubscribe()
}
