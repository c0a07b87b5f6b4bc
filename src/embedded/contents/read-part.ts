import { closeSync, readSync } from 'node:fs'
import { systemCodeOf } from '../../foundation/errors.ts'
import { openIfThere, packedPath } from './content-file.ts'
import { type ByteRange, type LocatedFrame, partOf, SeekableFile } from './seekable-zstd.ts'

/** 2 MiB, enough for the passages of one answer, and for passages that are read one after the other. */
const MAX_CACHED_FRAMES = 32
const MAX_CACHED_TABLES = 64

/** Returns a part of a content; fewer bytes if the content ends before; undefined if the content does not exist. */
export type PartReader = (path: string, range: ByteRange) => Buffer | undefined

/**
 * Returns a reader of small parts of contents, compressed or not. It caches the frames that were read last, since parts of the same frames
 * are often read again. The reader throws DamagedBytesError.
 */
export function createPartReader(): PartReader {
  const tables = new Map<string, readonly LocatedFrame[]>()
  const unpacked = new Map<LocatedFrame, Buffer>()
  const readPacked = (path: string, range: ByteRange) => {
    using file = new SeekableFile(packedPath(path), tables.get(path))
    keepRecent(tables, path, file.frames, MAX_CACHED_TABLES)
    const parts = file.framesOf(range).map((frame) => {
      const bytes = unpacked.get(frame) ?? file.unpack(frame)
      keepRecent(unpacked, frame, bytes, MAX_CACHED_FRAMES)
      return partOf(frame, bytes, range)
    })
    return Buffer.concat(parts)
  }
  return (path, range) => {
    const plain = tables.has(path) ? undefined : openIfThere(path)
    if (plain !== undefined) return readPlain(plain, range)
    try {
      return readPacked(path, range)
    } catch (error) {
      if (systemCodeOf(error) !== 'ENOENT') throw error
      return undefined
    }
  }
}

/** Adds an entry as the most recently used, and removes the oldest ones if there are more than `maxEntries`. */
export function keepRecent<K, V>(recent: Map<K, V>, key: K, value: V, maxEntries: number): void {
  recent.delete(key)
  recent.set(key, value)
  for (const oldest of recent.keys()) {
    if (recent.size <= maxEntries) return
    recent.delete(oldest)
  }
}

function readPlain(file: number, { start, end }: ByteRange): Buffer {
  try {
    const bytes = Buffer.alloc(end - start + 1)
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, start))
  } finally {
    closeSync(file)
  }
}
