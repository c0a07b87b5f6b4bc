import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { promisify } from 'node:util'
import { type ZstdOptions, zstdCompress, zstdDecompress, zstdDecompressSync } from 'node:zlib'
import { messageOf } from '../../foundation/errors.ts'
import { DamagedBytesError } from './packed-bytes.ts'

/** A part of a content in bytes; both ends are included. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

interface Frame {
  readonly packedBytes: number
  readonly plainBytes: number
}

export interface LocatedFrame extends Frame {
  /** The offset of the frame in the file. */
  readonly packedAt: number
  /** The offset of its bytes in the content. */
  readonly plainAt: number
}

/** The uncompressed size of each frame but the last. To get any byte, a reader unpacks the whole frame. */
export const FRAME_BYTES = 64 * 1024
const HEADER_BYTES = 8
const ENTRY_BYTES = 8
const FOOTER_BYTES = 9
const SKIPPABLE_FRAME = 0x184d2a5e
const SEEKABLE = 0x8f92eab1

/** One byte more than a frame has: if a chunk were full, Node would allocate a second one. */
const UNPACKING = { maxOutputLength: FRAME_BYTES, chunkSize: FRAME_BYTES + 1 }

const pack = promisify<Buffer, ZstdOptions, Buffer>(zstdCompress)
const unpack = promisify<Buffer, ZstdOptions, Buffer>(zstdDecompress)

/** Writes a file in the seekable format of Zstandard: frames of FRAME_BYTES of content, then a table of their sizes. */
export class SeekableWriter {
  readonly #file: FileHandle
  readonly #frames: Frame[] = []
  #pending = Buffer.alloc(0)

  constructor(file: FileHandle) {
    this.#file = file
  }

  async write(chunks: readonly Buffer[]): Promise<void> {
    const bytes = Buffer.concat([this.#pending, ...chunks])
    let at = 0
    for (; bytes.length - at >= FRAME_BYTES; at += FRAME_BYTES) await this.#add(bytes.subarray(at, at + FRAME_BYTES))
    this.#pending = bytes.subarray(at)
  }

  /** Writes the last frame and the table. */
  async end(): Promise<void> {
    if (this.#pending.length > 0) await this.#add(this.#pending)
    await this.#file.appendFile(seekTable(this.#frames))
  }

  async #add(plain: Buffer): Promise<void> {
    // If a frame declares its size, unpacking it needs no window of 2 MiB.
    const packed = await pack(plain, { pledgedSrcSize: plain.length })
    await this.#file.appendFile(packed)
    this.#frames.push({ packedBytes: packed.length, plainBytes: plain.length })
  }
}

/** Reads a part of the content of a file that SeekableWriter wrote. Throws DamagedBytesError. */
export async function* readSeekable(path: string, range: ByteRange): AsyncGenerator<Buffer> {
  using file = new SeekableFile(path)
  for (const frame of file.framesOf(range)) {
    const packed = file.readPacked(frame)
    yield partOf(frame, await unpack(packed, UNPACKING).catch(explainDamage), range)
  }
}

/** An open file that SeekableWriter wrote. Its methods throw DamagedBytesError. */
export class SeekableFile implements Disposable {
  readonly #file: number
  readonly frames: readonly LocatedFrame[]

  /** `frames` are the frames of this file, if they are known from an earlier opening. */
  constructor(path: string, frames?: readonly LocatedFrame[]) {
    using opening = new DisposableStack()
    this.#file = openSync(path, 'r')
    opening.defer(() => closeSync(this.#file))
    this.frames = frames ?? readSeekTable(this.#file)
    opening.move()
  }

  /** Returns the frames that have bytes of a range of the content. */
  framesOf({ start, end }: ByteRange): readonly LocatedFrame[] {
    return this.frames.slice(Math.floor(start / FRAME_BYTES), Math.floor(end / FRAME_BYTES) + 1)
  }

  readPacked({ packedAt, packedBytes }: LocatedFrame): Buffer {
    return readAt(this.#file, packedAt, packedBytes)
  }

  unpack(frame: LocatedFrame): Buffer {
    try {
      return zstdDecompressSync(this.readPacked(frame), UNPACKING)
    } catch (error) {
      return explainDamage(error)
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#file)
  }
}

/** Returns the bytes of an unpacked frame that are in a range of the content. */
export function partOf({ plainAt, plainBytes }: LocatedFrame, plain: Buffer, { start, end }: ByteRange): Buffer {
  if (plain.length !== plainBytes) throw new DamagedBytesError(`A frame does not unpack to ${plainBytes} bytes`)
  return plain.subarray(Math.max(0, start - plainAt), end - plainAt + 1)
}

function seekTable(frames: readonly Frame[]): Buffer {
  const table = Buffer.alloc(HEADER_BYTES + frames.length * ENTRY_BYTES + FOOTER_BYTES)
  table.writeUInt32LE(SKIPPABLE_FRAME, 0)
  table.writeUInt32LE(table.length - HEADER_BYTES, 4)
  let at = HEADER_BYTES
  for (const { packedBytes, plainBytes } of frames) {
    table.writeUInt32LE(packedBytes, at)
    table.writeUInt32LE(plainBytes, at + 4)
    at += ENTRY_BYTES
  }
  table.writeUInt32LE(frames.length, at)
  table.writeUInt32LE(SEEKABLE, at + 5)
  return table
}

function readSeekTable(file: number): LocatedFrame[] {
  const { size } = fstatSync(file)
  const footer = readAt(file, size - FOOTER_BYTES, FOOTER_BYTES)
  const tableBytes = footer.readUInt32LE(0) * ENTRY_BYTES
  if (footer.readUInt32LE(5) !== SEEKABLE || tableBytes > size) {
    throw new DamagedBytesError('The file does not end with the table of its frames')
  }
  const table = readAt(file, size - FOOTER_BYTES - tableBytes, tableBytes)
  const frames: LocatedFrame[] = []
  let [packedAt, plainAt] = [0, 0]
  for (let at = 0; at < tableBytes; at += ENTRY_BYTES) {
    const [packedBytes, plainBytes] = [table.readUInt32LE(at), table.readUInt32LE(at + 4)]
    const isLast = at + ENTRY_BYTES === tableBytes
    if (packedBytes > 2 * FRAME_BYTES || plainBytes > FRAME_BYTES || (plainBytes < FRAME_BYTES && !isLast)) {
      throw new DamagedBytesError('A frame has another size than it must have')
    }
    frames.push({ packedAt, packedBytes, plainAt, plainBytes })
    packedAt += packedBytes
    plainAt += plainBytes
  }
  return frames
}

function explainDamage(error: unknown): never {
  throw new DamagedBytesError(`Cannot unpack a frame: ${messageOf(error)}`)
}

function readAt(file: number, at: number, length: number): Buffer {
  const bytes = Buffer.alloc(Math.max(0, length))
  if (at < 0 || readSync(file, bytes, 0, length, at) < length) throw new DamagedBytesError('The file is cut short')
  return bytes
}
