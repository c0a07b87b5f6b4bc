import type { FileSystem } from './file-system.ts'
import { changedWhileRead, type GuardedFile } from './open-guarded.ts'

/**
 * Reads from `position` into `scratch`, at most up to the size that the file had when it was opened, and returns the filled part;
 * the part is empty only at that size. Throws FileError `busy` when the file ends earlier.
 */
export function readChunk(fs: FileSystem, file: GuardedFile, scratch: Uint8Array, position: number): Uint8Array {
  const wanted = Math.min(scratch.length, file.fingerprint.sizeBytes - position)
  if (wanted === 0) return scratch.subarray(0, 0)
  const got = fs.readSync(file.descriptor, scratch, 0, wanted, position)
  if (got === 0) throw changedWhileRead(file.relativePath)
  return scratch.subarray(0, got)
}

/** Reads the whole file into a new buffer; only for small files. */
export function readWhole(fs: FileSystem, file: GuardedFile): Uint8Array {
  const bytes = Buffer.allocUnsafeSlow(file.fingerprint.sizeBytes)
  for (let position = 0; position < bytes.length; ) {
    position += readChunk(fs, file, bytes.subarray(position), position).length
  }
  return bytes
}
