/** A mutex: one holder at a time, in the order of the calls of `lock`. */
export class Mutex {
  #last: Promise<void> = Promise.resolve()

  /** Waits for the lock; disposing the result releases it. An abort of `signal` ends the wait with its reason, and lets the next one in. */
  async lock(signal?: AbortSignal): Promise<Disposable> {
    signal?.throwIfAborted()
    const { promise, resolve } = Promise.withResolvers<void>()
    const before = this.#last
    this.#last = before.then(() => promise)
    try {
      await (signal ? orAbort(before, signal) : before)
    } catch (error) {
      resolve()
      throw error
    }
    return { [Symbol.dispose]: resolve }
  }
}

/** Rejects with the reason when `signal` is aborted first. */
async function orAbort(turn: Promise<void>, signal: AbortSignal): Promise<void> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = () => reject(signal.reason)
  signal.addEventListener('abort', onAbort)
  try {
    await Promise.race([turn, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
