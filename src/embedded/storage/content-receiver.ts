import { createHash, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { ContentWriter, type FinishedFile } from '../contents/content-file.ts'

/** Contents up to this size are stored in the database, because one fsync makes many of them durable together with their records. */
export const MAX_SMALL_BYTES = 64 * 1024

/** The complete content of an upload, in memory if it has at most MAX_SMALL_BYTES, otherwise in a flushed temporary file. */
export type ReceivedContent = {
  readonly sha256: Buffer
  readonly sizeBytes: number
} & ({ readonly kind: 'small'; readonly bytes: Buffer } | ({ readonly kind: 'large' } & FinishedFile))

/** Receives and hashes the bytes of one upload. Contents above MAX_SMALL_BYTES go to a temporary file. */
export class ContentReceiver {
  readonly #temporaryDir: string
  readonly #hash = createHash('sha256')
  #chunks: Buffer[] = []
  #chunksBytes = 0
  #sizeBytes = 0
  #file: ContentWriter | undefined

  constructor(temporaryDir: string) {
    this.#temporaryDir = temporaryDir
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** Adds bytes, which the caller must not change afterwards. */
  add(chunk: Buffer): void {
    this.#hash.update(chunk)
    this.#chunks.push(chunk)
    this.#chunksBytes += chunk.length
    this.#sizeBytes += chunk.length
  }

  /** Writes the bytes in memory to a file if they are too many. The caller awaits this after each read from the network. */
  async spill(): Promise<void> {
    if (this.#chunksBytes <= MAX_SMALL_BYTES) return
    this.#file ??= await ContentWriter.create(join(this.#temporaryDir, randomUUID()))
    await this.#file.write(this.#takeChunks())
  }

  async finish(): Promise<ReceivedContent> {
    const found = { sha256: this.#hash.digest(), sizeBytes: this.#sizeBytes }
    if (!this.#file) return { ...found, kind: 'small', bytes: Buffer.concat(this.#chunks) }
    await this.#file.write(this.#takeChunks())
    await this.#file.finish()
    return { ...found, kind: 'large', temporaryFile: this.#file.temporaryFile, isPacked: this.#file.isPacked }
  }

  /** Removes the temporary file. */
  async dispose(): Promise<void> {
    this.#chunks = []
    await this.#file?.[Symbol.asyncDispose]()
  }

  #takeChunks(): Buffer[] {
    this.#chunksBytes = 0
    return this.#chunks.splice(0)
  }
}
