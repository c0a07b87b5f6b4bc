import { orAbort } from './waits.ts'

/** Has one holder at a time, in the order of the calls of `lock`. */
export class Mutex {
  #last: Promise<void> = Promise.resolve()

  /** Disposing the result releases the lock. An abort of `signal` ends the wait with its reason. */
  async lock(signal?: AbortSignal): Promise<Disposable> {
    signal?.throwIfAborted()
    const { promise, resolve } = Promise.withResolvers<void>()
    const before = this.#last
    this.#last = before.then(() => promise)
    try {
      await orAbort(before, signal)
    } catch (error) {
      resolve()
      throw error
    }
    return { [Symbol.dispose]: resolve }
  }
}
