import { closeSync, readSync } from 'node:fs'
import { systemCodeOf } from '../../foundation/errors.ts'
import { openIfThere, packedPath } from './content-file.ts'
import { type ByteRange, type PlacedFrame, partOf, SeekableFile } from './seekable-zstd.ts'

/** 2 MiB: the passages of one answer, and those that follow each other when a content is read. */
const KEPT_FRAMES = 32
const KEPT_TABLES = 64

/** Returns a part of a content in one piece, less of it beyond its end, and undefined when it is gone. */
export type PartReader = (path: string, range: ByteRange) => Buffer | undefined

/**
 * Reads small parts of contents, from either of their two files, as `streamContent` does. Keeps the frames that were read last, from
 * whatever content, since the same ones are asked for again. Throws DamagedBytesError.
 */
export function createPartReader(): PartReader {
  const tables = new Map<string, readonly PlacedFrame[]>()
  const unpacked = new Map<PlacedFrame, Buffer>()
  const readPacked = (path: string, range: ByteRange) => {
    using file = new SeekableFile(packedPath(path), tables.get(path))
    keepRecent(tables, path, file.frames, KEPT_TABLES)
    const parts = file.framesOf(range).map((frame) => {
      const bytes = unpacked.get(frame) ?? file.unpack(frame)
      keepRecent(unpacked, frame, bytes, KEPT_FRAMES)
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

/** Puts an entry at the end of the `most` that were used last. */
export function keepRecent<K, V>(recent: Map<K, V>, key: K, value: V, most: number): void {
  recent.delete(key)
  recent.set(key, value)
  for (const oldest of recent.keys()) {
    if (recent.size <= most) return
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
