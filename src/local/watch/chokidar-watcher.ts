import { watch } from 'chokidar'
import type { WatchWholeTree } from './whole-tree-watcher.ts'

/** `atomic` would hold back a deletion for a while to tell a change in its stead; whoever looks at the path sees both. */
const OPTIONS = {
  ignoreInitial: true,
  followSymlinks: false,
  ignorePermissionErrors: true,
  backend: 'native',
  atomic: false,
} as const

/** Watches every file and directory of its own listing; errors before it is ready reject. */
export const watchWithChokidar: WatchWholeTree = async (root, { onPath, onError }) => {
  const watcher = watch(root, OPTIONS)
  watcher.on('all', (_, path) => onPath(path))
  await new Promise<void>((ready, fail) => watcher.once('ready', ready).once('error', fail)).catch(async (error) => {
    await watcher.close()
    throw error
  })
  watcher.on('error', onError)
  return () => watcher.close()
}
