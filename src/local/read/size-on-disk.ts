import { join } from 'node:path'
import { type FileSystem, kindOf } from './file-system.ts'

/** Entries that vanish or are unreadable count as 0. */
export function sizeOnDisk(fs: FileSystem, directory: string): number {
  return orNothing(() => fs.readdirSync(directory).reduce((sum, name) => sum + sizeOf(fs, join(directory, name)), 0))
}

function sizeOf(fs: FileSystem, path: string): number {
  return orNothing(() => {
    const stats = fs.lstatSync(path, { bigint: true })
    const kind = kindOf(stats)
    return kind === 'directory' ? sizeOnDisk(fs, path) : kind === 'file' ? Number(stats.size) : 0
  })
}

function orNothing(size: () => number): number {
  try {
    return size()
  } catch {
    return 0
  }
}
