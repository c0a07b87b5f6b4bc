/** The part of a socket that is used here. */
interface Closable {
  once(event: 'close', listener: () => void): unknown
  destroy(): unknown
}

/**
 * Bounds how many connections are open: when one too many comes, the one is closed that has been waiting longest without
 * asking for anything. So idle connections never keep out one that asks.
 */
export class ConnectionBound {
  readonly #most: number
  readonly #open = new Set<Closable>()
  /** In the order in which they came, or had their last answer. */
  readonly #silent = new Set<Closable>()

  constructor(most: number) {
    this.#most = most
  }

  admit(socket: Closable): void {
    this.#open.add(socket)
    this.#silent.add(socket)
    socket.once('close', () => this.#forget(socket))
    if (this.#open.size <= this.#most) return
    const [oldest] = this.#silent
    if (!oldest) return
    this.#forget(oldest)
    oldest.destroy()
  }

  /** It has asked: from now on it ends by itself. */
  noteRequest(socket: Closable): void {
    this.#silent.delete(socket)
  }

  /** It has its answer, and may ask again. */
  noteIdle(socket: Closable): void {
    if (this.#open.has(socket)) this.#silent.add(socket)
  }

  #forget(socket: Closable): void {
    this.#open.delete(socket)
    this.#silent.delete(socket)
  }
}
