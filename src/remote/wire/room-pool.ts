import type { Socket } from 'node:net'
import type { ChunkBuffers } from '../../foundation/files/chunk-buffers.ts'

/** A part of a large file, or a file of ONE_WRITE_BYTES with all that surrounds it; what is longer has a buffer of its own. */
const ROOM_BYTES = (1 << 18) + (1 << 13)

/** So many buffers may wait for slow connections; V8 frees what is more. */
const MOST_WAITING = 32

interface WaitingRoom {
  readonly room: Buffer
  /** Connections that had bytes left to write when the buffer was given back, and ever since. */
  readonly busy: Set<Socket>
}

/**
 * Buffers for small files and for parts of large ones, used again: V8 would free them only when it marks its whole heap, and they
 * would take tens of megabytes until then. A service may answer before it has read a request, and a part is given back while
 * its request continues, so a buffer is used again only when each connection that had bytes left to write has written them.
 */
export class RoomPool implements ChunkBuffers {
  readonly #sockets = new Set<Socket>()
  readonly #free: Buffer[] = []
  #waiting: WaitingRoom[] = []

  /** Every connection that frames are written to has to be watched. */
  watch(socket: Socket): void {
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
  }

  /** A buffer of exactly `sizeBytes`, with any content. */
  take(sizeBytes: number): Buffer {
    if (sizeBytes > ROOM_BYTES) return Buffer.allocUnsafeSlow(sizeBytes)
    this.#freeWritten()
    return (this.#free.pop() ?? Buffer.allocUnsafeSlow(ROOM_BYTES)).subarray(0, sizeBytes)
  }

  /** Nobody but the connections uses the buffer any more. */
  giveBack({ buffer, byteLength }: Uint8Array): void {
    if (byteLength > ROOM_BYTES) return
    const busy = new Set([...this.#sockets].filter(({ writableLength }) => writableLength > 0))
    const room = Buffer.from(buffer)
    if (busy.size === 0) this.#free.push(room)
    else if (this.#waiting.length < MOST_WAITING) this.#waiting.push({ room, busy })
  }

  #freeWritten(): void {
    if (this.#waiting.length === 0) return
    for (const { busy } of this.#waiting)
      for (const socket of busy) if (socket.writableLength === 0 || !this.#sockets.has(socket)) busy.delete(socket)
    this.#free.push(...this.#waiting.filter(({ busy }) => busy.size === 0).map(({ room }) => room))
    this.#waiting = this.#waiting.filter(({ busy }) => busy.size > 0)
  }
}
