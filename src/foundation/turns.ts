/** Lets one at a time do something, in the order they asked. */
export class Turns {
  #last: Promise<void> = Promise.resolve()

  /** Waits for the turn, which ends when what this gives is disposed of. */
  async take(): Promise<Disposable> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const before = this.#last
    this.#last = before.then(() => promise)
    await before
    return { [Symbol.dispose]: resolve }
  }
}
