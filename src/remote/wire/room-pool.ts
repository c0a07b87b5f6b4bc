import type { Socket } from 'node:net'

/** A file of ONE_WRITE_BYTES with all that surrounds it; a longer frame has a buffer of its own. */
const ROOM_BYTES = (1 << 17) + (1 << 13)

/**
 * Buffers for the frames of small files, used again: V8 would free them only when it marks its whole heap, and they would take tens of
 * megabytes until then. A service may answer before it has read a request, so a buffer is used again only when no connection has
 * bytes left to write; otherwise V8 frees it.
 */
export class RoomPool {
  readonly #sockets = new Set<Socket>()
  readonly #free: Buffer[] = []

  /** Every connection that frames are written to has to be watched. */
  watch(socket: Socket): void {
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
  }

  /** A buffer of exactly `sizeBytes`, with any content. */
  take(sizeBytes: number): Buffer {
    if (sizeBytes > ROOM_BYTES) return Buffer.allocUnsafeSlow(sizeBytes)
    return (this.#free.pop() ?? Buffer.allocUnsafeSlow(ROOM_BYTES)).subarray(0, sizeBytes)
  }

  /** Nobody but the connections uses the buffer any more. */
  giveBack({ buffer, byteLength }: Buffer): void {
    if (byteLength > ROOM_BYTES) return
    for (const { writableLength } of this.#sockets) if (writableLength > 0) return
    this.#free.push(Buffer.from(buffer))
  }
}
