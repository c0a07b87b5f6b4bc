import type { Socket } from 'node:net'

/** A chunk of a large file, or a small file with its frame. */
const BUFFER_BYTES = (1 << 18) + (1 << 13)
const MAX_KEPT = 32

/**
 * Buffers of uploads, used again, since V8 frees one that outlives a turn or two only when it marks its whole heap. A service may answer
 * before it has read a request, so a buffer is lent again only when each connection that had bytes left to write has written them (P10).
 */
export class UploadBuffers {
  readonly #sockets = new Set<Socket>()
  readonly #lent = new WeakSet<ArrayBufferLike>()
  /** `busy`: the connections that have had bytes left to write ever since. */
  readonly #kept: { readonly buffer: Buffer; busy: readonly Socket[] }[] = []

  /** Every connection that the buffers are written to has to be watched. */
  watch(socket: Socket): void {
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
  }

  /** A buffer of exactly this size, with any content. */
  readonly take = (sizeBytes: number): Buffer => {
    if (sizeBytes > BUFFER_BYTES) return Buffer.allocUnsafeSlow(sizeBytes)
    for (const kept of this.#kept) kept.busy = this.#listBusy(kept.busy)
    const written = this.#kept.findIndex(({ busy }) => busy.length === 0)
    const [{ buffer } = { buffer: Buffer.allocUnsafeSlow(BUFFER_BYTES) }] =
      written < 0 ? [] : this.#kept.splice(written, 1)
    this.#lent.add(buffer.buffer)
    return buffer.subarray(0, sizeBytes)
  }

  /** From now on only the connections use the buffer. */
  giveBack({ buffer }: Uint8Array): void {
    if (!this.#lent.delete(buffer) || this.#kept.length >= MAX_KEPT) return
    this.#kept.push({ buffer: Buffer.from(buffer), busy: this.#listBusy([...this.#sockets]) })
  }

  #listBusy(sockets: readonly Socket[]): readonly Socket[] {
    return sockets.filter((socket) => socket.writableLength > 0 && this.#sockets.has(socket))
  }
}
