import { join } from 'node:path'
import { type FileSystem, kindOf } from './file-system.ts'

/** Returns the bytes of all files below a directory; entries that vanish or are unreadable count as 0. */
export function sizeOnDisk(fs: FileSystem, directory: string): number {
  return orZero(() => fs.readdirSync(directory).reduce((sum, name) => sum + sizeOf(fs, join(directory, name)), 0))
}

function sizeOf(fs: FileSystem, path: string): number {
  return orZero(() => {
    const stats = fs.lstatSync(path, { bigint: true })
    const kind = kindOf(stats)
    return kind === 'directory' ? sizeOnDisk(fs, path) : kind === 'file' ? Number(stats.size) : 0
  })
}

function orZero(size: () => number): number {
  try {
    return size()
  } catch {
    return 0
  }
}
