import { statfsSync } from 'node:fs'

/** Bytes that are free for this user on the file system of `directory`. */
export function freeBytesOf(directory: string): number {
  const { bavail, bsize } = statfsSync(directory)
  return bavail * bsize
}
