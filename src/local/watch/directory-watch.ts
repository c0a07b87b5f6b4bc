import { type BigIntStats, lstatSync, watch } from 'node:fs'
import { isDirectory } from '../read/fingerprint.ts'

/** Receives the name of an entry of the directory that may have changed, null where the system gives none; or an error. */
export interface DirectoryWatchListener {
  onName(name: string | null): void
  onError(error: Error): void
}

/** Starts to watch one directory, not those below it; throws a system error. */
export type OpenDirectoryWatch = (path: string, listener: DirectoryWatchListener) => { close(): void }

/** Watches by `fs.watch`, which does not keep the process alive. */
export const openDirectoryWatch: OpenDirectoryWatch = (path, listener) => {
  const watcher = watch(path, { persistent: false }, (_, name) => listener.onName(name))
  return watcher.on('error', (error) => listener.onError(error))
}

/** What distinguishes a directory from another at the same path. The inode alone does not: file systems reuse it at once. */
export interface DirectoryIdentity {
  readonly inode: bigint
  readonly birthNs: bigint
}

/** Returns undefined where no directory is found, or none that may be read. */
export function identifyDirectory(path: string): DirectoryIdentity | undefined {
  const stats = tryLstat(path)
  return stats && isDirectory(stats) ? { inode: stats.ino, birthNs: stats.birthtimeNs } : undefined
}

function tryLstat(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
