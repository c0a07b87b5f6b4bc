import { type FileHandle, open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { zstdCompress, zstdDecompress } from 'node:zlib'
import { messageOf } from '../../foundation/errors.ts'
import { DamagedBytesError } from '../database/packed-bytes.ts'

/** A part of a content in bytes; both ends are included. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

interface Frame {
  readonly packedBytes: number
  readonly plainBytes: number
}

/** What a reader unpacks to get at any byte. */
export const FRAME_BYTES = 64 * 1024
const HEADER_BYTES = 8
const ENTRY_BYTES = 8
const FOOTER_BYTES = 9
const SKIPPABLE_FRAME = 0x184d2a5e
const SEEKABLE = 0x8f92eab1

const pack = promisify<Buffer, Buffer>(zstdCompress)
const unpack = promisify<Buffer, { maxOutputLength: number }, Buffer>(zstdDecompress)

/**
 * Writes a file in the seekable format of Zstandard, which the program `zstd` unpacks as well: frames of at most 64 KiB of content,
 * then a table of their sizes.
 */
export class SeekableWriter {
  readonly #file: FileHandle
  readonly #frames: Frame[] = []
  #rest = Buffer.alloc(0)

  constructor(file: FileHandle) {
    this.#file = file
  }

  async write(chunks: readonly Buffer[]): Promise<void> {
    const bytes = Buffer.concat([this.#rest, ...chunks])
    let at = 0
    for (; bytes.length - at >= FRAME_BYTES; at += FRAME_BYTES) await this.#add(bytes.subarray(at, at + FRAME_BYTES))
    this.#rest = bytes.subarray(at)
  }

  /** Writes the last frame and the table. */
  async end(): Promise<void> {
    if (this.#rest.length > 0) await this.#add(this.#rest)
    await this.#file.appendFile(seekTable(this.#frames))
  }

  async #add(plain: Buffer): Promise<void> {
    const packed = await pack(plain)
    await this.#file.appendFile(packed)
    this.#frames.push({ packedBytes: packed.length, plainBytes: plain.length })
  }
}

/** Reads the content of a file that SeekableWriter wrote, or a part of it. Throws DamagedBytesError. */
export async function* readSeekable(path: string, range: ByteRange): AsyncGenerator<Buffer> {
  await using file = await open(path)
  let [packedAt, plainAt] = [0, 0]
  for (const frame of await readSeekTable(file)) {
    if (plainAt > range.end) return
    const [from, to] = [Math.max(0, range.start - plainAt), range.end - plainAt + 1]
    if (from < frame.plainBytes) yield (await readFrame(file, packedAt, frame)).subarray(from, to)
    packedAt += frame.packedBytes
    plainAt += frame.plainBytes
  }
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

async function readSeekTable(file: FileHandle): Promise<Frame[]> {
  const { size } = await file.stat()
  const footer = await readAt(file, size - FOOTER_BYTES, FOOTER_BYTES)
  const tableBytes = footer.readUInt32LE(0) * ENTRY_BYTES
  if (footer.readUInt32LE(5) !== SEEKABLE || tableBytes > size) {
    throw new DamagedBytesError('The file does not end with the table of its frames')
  }
  const table = await readAt(file, size - FOOTER_BYTES - tableBytes, tableBytes)
  const frames: Frame[] = []
  for (let at = 0; at < tableBytes; at += ENTRY_BYTES) {
    frames.push({ packedBytes: table.readUInt32LE(at), plainBytes: table.readUInt32LE(at + 4) })
  }
  return frames
}

async function readFrame(file: FileHandle, at: number, { packedBytes, plainBytes }: Frame): Promise<Buffer> {
  if (Math.max(packedBytes, plainBytes) > 2 * FRAME_BYTES) throw new DamagedBytesError('A frame is too long')
  const packed = await readAt(file, at, packedBytes)
  try {
    const plain = await unpack(packed, { maxOutputLength: FRAME_BYTES })
    if (plain.length === plainBytes) return plain
  } catch (error) {
    throw new DamagedBytesError(`Cannot unpack a frame: ${messageOf(error)}`)
  }
  throw new DamagedBytesError(`A frame does not unpack to ${plainBytes} bytes`)
}

async function readAt(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.max(0, length)), 0, length, Math.max(0, at))
  if (at < 0 || bytesRead < length) throw new DamagedBytesError('The file is cut short')
  return buffer
}
