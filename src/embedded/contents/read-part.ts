import { closeSync, readSync } from 'node:fs'
import { systemCodeOf } from '../../foundation/errors.ts'
import { openIfThere, packedPath } from './content-file.ts'
import { type ByteRange, type PlacedFrame, partOf, SeekableFile } from './seekable-zstd.ts'

/** Some passages that follow each other stand in one frame. */
const KEPT_FRAMES = 4

/** Returns a part of a content in one piece, less of it beyond its end, and undefined when it is gone. */
export type PartReader = (path: string, range: ByteRange) => Buffer | undefined

/** The file that was read last. */
interface LastFile {
  readonly path: string
  readonly frames: readonly PlacedFrame[]
  /** Unpacked, the one read last at the end. */
  readonly plain: Map<PlacedFrame, Buffer>
}

/** Reads small parts of contents, from either of their two files, as `streamContent` does. Throws DamagedBytesError. */
export function createPartReader(): PartReader {
  let last: LastFile | undefined
  const readPacked = (path: string, range: ByteRange) => {
    const known = last?.path === path ? last : undefined
    using file = new SeekableFile(packedPath(path), known?.frames)
    const { plain } = known ?? { plain: new Map<PlacedFrame, Buffer>() }
    last = { path, frames: file.frames, plain }
    const parts = file.framesOf(range).map((frame) =>
      partOf(
        frame,
        take(plain, frame, () => file.unpack(frame)),
        range,
      ),
    )
    return Buffer.concat(parts)
  }
  return (path, range) => {
    const plain = last?.path === path ? undefined : openIfThere(path)
    if (plain !== undefined) return readPlain(plain, range)
    try {
      return readPacked(path, range)
    } catch (error) {
      if (systemCodeOf(error) !== 'ENOENT') throw error
      return undefined
    }
  }
}

function take(kept: LastFile['plain'], frame: PlacedFrame, unpack: () => Buffer): Buffer {
  const plain = kept.get(frame) ?? unpack()
  kept.delete(frame)
  kept.set(frame, plain)
  for (const oldest of kept.keys()) {
    if (kept.size <= KEPT_FRAMES) break
    kept.delete(oldest)
  }
  return plain
}

function readPlain(file: number, { start, end }: ByteRange): Buffer {
  try {
    const bytes = Buffer.alloc(end - start + 1)
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, start))
  } finally {
    closeSync(file)
  }
}
