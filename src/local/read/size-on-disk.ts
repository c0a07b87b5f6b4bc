import { join } from 'node:path'
import type { FileSystem } from './file-system.ts'

/** Bytes of all files below a directory; entries that vanish or are unreadable count as 0. */
export function sizeOnDisk(fs: FileSystem, directory: string): number {
  let sizeBytes = 0
  for (const entry of listOrNothing(fs, directory)) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) sizeBytes += sizeOnDisk(fs, path)
    else if (entry.isFile()) sizeBytes += sizeOrNothing(fs, path)
  }
  return sizeBytes
}

function listOrNothing(fs: FileSystem, directory: string) {
  try {
    return fs.readdirSync(directory, { withFileTypes: true })
  } catch {
    return []
  }
}

function sizeOrNothing(fs: FileSystem, path: string): number {
  try {
    return Number(fs.lstatSync(path, { bigint: true }).size)
  } catch {
    return 0
  }
}
