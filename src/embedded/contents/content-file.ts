import { createReadStream, existsSync, openSync } from 'node:fs'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { systemCodeOf } from '../../foundation/errors.ts'
import { type ByteRange, FRAME_BYTES, readSeekable, SeekableWriter } from './seekable-zstd.ts'

const READ_CHUNK_BYTES = 64 * 1024
const WHOLE: ByteRange = { start: 0, end: Number.POSITIVE_INFINITY }

/** A content that is completely in a temporary file, compressed (`isPacked`) or not. */
export interface FinishedFile {
  readonly temporaryFile: string
  readonly isPacked: boolean
}

/** Returns the path of a compressed content; an uncompressed one is at `path` itself. */
export function packedPath(path: string): string {
  return `${path}.zst`
}

/** Returns `path` if the content is uncompressed, so that programs can read it there; otherwise undefined. */
export function plainPath(path: string): string | undefined {
  return existsSync(path) ? path : undefined
}

/** Reads a content, or a part of it, from its compressed or uncompressed file. */
export function streamContent(path: string, range = WHOLE): Readable {
  const plain = openIfThere(path)
  if (plain === undefined) return Readable.from(readSeekable(packedPath(path), range), { objectMode: false })
  return createReadStream(path, { fd: plain, highWaterMark: READ_CHUNK_BYTES, ...range })
}

/**
 * Writes a new content of more than FRAME_BYTES. It is compressed if it begins with text, that is, without zero bytes. Otherwise chunks
 * of zeros become holes, so that a disk image takes no more space than before. The first call of `write` gets at least FRAME_BYTES, so
 * that the same content is always written in the same way.
 */
export class ContentWriter implements FinishedFile, AsyncDisposable {
  readonly temporaryFile: string
  readonly #file: FileHandle
  #packer: SeekableWriter | 'none' | undefined
  /** The bytes of an uncompressed content so far, including holes. */
  #writtenBytes = 0

  private constructor(path: string, file: FileHandle) {
    this.temporaryFile = path
    this.#file = file
  }

  /** Creates the temporary file. Disposing closes it, and removes it if it was not moved. */
  static async create(path: string): Promise<ContentWriter> {
    return new ContentWriter(path, await open(path, 'wx', 0o600))
  }

  get isPacked(): boolean {
    return this.#packer instanceof SeekableWriter
  }

  async write(chunks: readonly Buffer[]): Promise<void> {
    this.#packer ??= beginsWithText(chunks) ? new SeekableWriter(this.#file) : 'none'
    if (this.#packer !== 'none') return await this.#packer.write(chunks)
    for (const chunk of chunks) {
      if (!isZero(chunk)) await this.#writeNext(chunk)
      this.#writtenBytes += chunk.length
    }
  }

  async #writeNext(chunk: Buffer): Promise<void> {
    for (let done = 0; done < chunk.length; ) {
      const { bytesWritten } = await this.#file.write(chunk, done, chunk.length - done, this.#writtenBytes + done)
      done += bytesWritten
    }
  }

  /** Resolves when the whole content is durable. */
  async finish(): Promise<void> {
    if (this.#packer instanceof SeekableWriter) await this.#packer.end()
    else await this.#file.truncate(this.#writtenBytes)
    await this.#file.sync()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close()
    await rm(this.temporaryFile, { force: true })
  }
}

function isZero(chunk: Buffer): boolean {
  return chunk[0] === 0 && chunk.compare(chunk, 1, chunk.length, 0, chunk.length - 1) === 0
}

function beginsWithText(chunks: readonly Buffer[]): boolean {
  return !Buffer.concat(chunks).subarray(0, FRAME_BYTES).includes(0)
}

/** Opens a file for reading; returns undefined if it does not exist. */
export function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, 'r')
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT') throw error
    return undefined
  }
}
