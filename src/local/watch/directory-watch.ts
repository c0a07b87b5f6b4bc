import { type BigIntStats, lstatSync, watch } from 'node:fs'
import { isDirectory } from '../read/fingerprint.ts'

/** What a watch tells: the name in its directory that may have changed, null where the system gives none; or its failure. */
export interface DirectoryWatchListener {
  onName(name: string | null): void
  onError(error: Error): void
}

/** Begins to watch one directory, not those below it; throws a system error. */
export type OpenDirectoryWatch = (path: string, listener: DirectoryWatchListener) => { close(): void }

/** The watch of the system; it keeps no process alive. */
export const openDirectoryWatch: OpenDirectoryWatch = (path, listener) => {
  const watcher = watch(path, { persistent: false }, (_, name) => listener.onName(name))
  return watcher.on('error', (error) => listener.onError(error))
}

/** What tells a directory from another in its place: inode numbers alone are used again at once. */
export interface DirectoryIdentity {
  readonly inode: bigint
  readonly birthNs: bigint
}

/** Undefined where there is no directory (any more), or none that may be looked at. */
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
