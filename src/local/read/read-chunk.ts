import type { FileSystem } from './file-system.ts'
import type { GuardedFile } from './open-guarded.ts'
import { changedWhileRead } from './open-guarded.ts'

/**
 * Reads on from `position` into `scratch`, never past the size the file was opened with, and returns the part that was
 * filled; empty only at that size. A file that ends before it throws FileError `busy`.
 */
export function readChunk(fs: FileSystem, file: GuardedFile, scratch: Uint8Array, position: number): Uint8Array {
  const wanted = Math.min(scratch.length, file.fingerprint.sizeBytes - position)
  if (wanted === 0) return scratch.subarray(0, 0)
  const got = fs.readSync(file.descriptor, scratch, 0, wanted, position)
  if (got === 0) throw changedWhileRead(file.relativePath)
  return scratch.subarray(0, got)
}

/** Reads the whole file into memory of its own; for files known to be small. */
export function readWhole(fs: FileSystem, file: GuardedFile): Uint8Array {
  const bytes = new Uint8Array(file.fingerprint.sizeBytes)
  for (let position = 0; position < bytes.length; ) {
    position += readChunk(fs, file, bytes.subarray(position), position).length
  }
  return bytes
}
