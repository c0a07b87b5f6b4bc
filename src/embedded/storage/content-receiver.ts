import { createHash, randomUUID } from 'node:crypto'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Contents up to this size are stored in the database: one fsync makes many of them durable together with their records. */
export const MAX_SMALL_BYTES = 64 * 1024

/** The whole content of an upload: `small` at most MAX_SMALL_BYTES, `large` in a flushed temporary file. */
export type ReceivedContent = {
  readonly sha256: Buffer
  readonly sizeBytes: number
} & ({ readonly kind: 'small'; readonly bytes: Buffer } | { readonly kind: 'large'; readonly temporaryFile: string })

/** Receives and hashes the bytes of one upload; keeps no more than a small content in memory. */
export class ContentReceiver {
  readonly #temporaryDir: string
  readonly #hash = createHash('sha256')
  #chunks: Buffer[] = []
  #chunksBytes = 0
  #sizeBytes = 0
  #spilled: { path: string; handle: FileHandle } | undefined

  constructor(temporaryDir: string) {
    this.#temporaryDir = temporaryDir
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** Returns at once; the bytes must not change afterwards. */
  take(chunk: Buffer): void {
    this.#hash.update(chunk)
    this.#chunks.push(chunk)
    this.#chunksBytes += chunk.length
    this.#sizeBytes += chunk.length
  }

  /** Writes to a file what is too much for memory; the caller awaits this after each read from the network. */
  async spill(): Promise<void> {
    if (this.#chunksBytes <= MAX_SMALL_BYTES) return
    this.#spilled ??= await openTemporary(this.#temporaryDir)
    await this.#writeTo(this.#spilled.handle)
  }

  async finish(): Promise<ReceivedContent> {
    const found = { sha256: this.#hash.digest(), sizeBytes: this.#sizeBytes }
    if (!this.#spilled) return { ...found, kind: 'small', bytes: Buffer.concat(this.#chunks) }
    const { path, handle } = this.#spilled
    await this.#writeTo(handle)
    await handle.sync()
    return { ...found, kind: 'large', temporaryFile: path }
  }

  /** Removes the temporary file. */
  async dispose(): Promise<void> {
    this.#chunks = []
    if (!this.#spilled) return
    await this.#spilled.handle.close()
    await rm(this.#spilled.path, { force: true })
  }

  async #writeTo(handle: FileHandle): Promise<void> {
    const chunks = this.#chunks.splice(0)
    this.#chunksBytes = 0
    for (const chunk of chunks) await handle.appendFile(chunk)
  }
}

async function openTemporary(directory: string): Promise<{ path: string; handle: FileHandle }> {
  const path = join(directory, randomUUID())
  return { path, handle: await open(path, 'wx', 0o600) }
}
