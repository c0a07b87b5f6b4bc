/** A number of things that may be done at the same time, shared by all who do them. */
export class Lanes {
  readonly #waiting = new Set<() => void>()
  readonly #count: number
  #free: number

  constructor(count: number) {
    this.#count = count
    this.#free = count
  }

  get inUse(): number {
    return this.#count - this.#free
  }

  /** Takes a lane if one is free. */
  tryEnter(): boolean {
    if (this.#free === 0) return false
    this.#free -= 1
    return true
  }

  /** Gives a lane back, and tells those who may want it. */
  leave(): void {
    this.#free += 1
    for (const listener of this.#waiting) listener()
  }

  /** Calls `listener` whenever a lane becomes free. */
  onFree(listener: () => void): Disposable {
    this.#waiting.add(listener)
    return { [Symbol.dispose]: () => this.#waiting.delete(listener) }
  }
}
