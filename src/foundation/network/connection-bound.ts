interface Closable {
  once(event: 'close', listener: () => void): unknown
  destroy(): unknown
}

/** Beyond the bound, closes the connection that has been idle longest, so that idle ones do not keep others out. */
export class ConnectionBound {
  readonly #most: number
  readonly #open = new Set<Closable>()
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

  markBusy(socket: Closable): void {
    this.#silent.delete(socket)
  }

  /** Marks a connection as idle after its answer, unless it is closed. */
  markIdle(socket: Closable): void {
    if (this.#open.has(socket)) this.#silent.add(socket)
  }

  #forget(socket: Closable): void {
    this.#open.delete(socket)
    this.#silent.delete(socket)
  }
}
