import { subscribe } from '@parcel/watcher'
import type { WatchWholeTree } from './whole-tree-watcher.ts'

/**
 * FSEvents, ReadDirectoryChangesW, or on Linux a watch a directory; there it loses the directories below one that was moved or
 * renamed. Nothing is left out here: a rule of the user may bring back what the built-in list leaves out.
 */
export const watchWithParcel: WatchWholeTree = async (root, { onPath, onError }) => {
  const subscription = await subscribe(root, (error, events) => {
    if (error) onError(error)
    else for (const { path } of events) onPath(path)
  })
  return () => subscription.unsubscribe()
}
