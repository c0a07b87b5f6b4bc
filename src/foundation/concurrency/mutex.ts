/** A mutex: one holder at a time, in the order of the calls of `lock`. */
export class Mutex {
  #last: Promise<void> = Promise.resolve()

  /** Waits for the lock; disposing the result releases it. */
  async lock(): Promise<Disposable> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const before = this.#last
    this.#last = before.then(() => promise)
    await before
    return { [Symbol.dispose]: resolve }
  }
}
