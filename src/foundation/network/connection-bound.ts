interface Closable {
  once(event: 'close', listener: () => void): unknown
  destroy(): unknown
}

/** Beyond the bound, closes the connection that has been idle longest, so that idle ones do not keep others out. */
export class ConnectionBound {
  readonly #maxConnections: number
  readonly #open = new Set<Closable>()
  readonly #idle = new Set<Closable>()

  constructor(maxConnections: number) {
    this.#maxConnections = maxConnections
  }

  admit(socket: Closable): void {
    this.#open.add(socket)
    this.#idle.add(socket)
    socket.once('close', () => this.#forget(socket))
    if (this.#open.size <= this.#maxConnections) return
    const [oldest] = this.#idle
    if (!oldest) return
    this.#forget(oldest)
    oldest.destroy()
  }

  markBusy(socket: Closable): void {
    this.#idle.delete(socket)
  }

  /** Marks a connection as idle after its answer, unless it is closed. */
  markIdle(socket: Closable): void {
    if (this.#open.has(socket)) this.#idle.add(socket)
  }

  #forget(socket: Closable): void {
    this.#open.delete(socket)
    this.#idle.delete(socket)
  }
}
