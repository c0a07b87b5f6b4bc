import { InterruptedError, ShelfdError, TemporaryError } from '../errors.ts'

/**
 * Waits for `shared`. If the signal is aborted first, throws the reason of the abort, or InterruptedError if the reason is no error of
 * shelfd; `shared` continues for other callers.
 */
export async function orAbort<T>(shared: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return shared
  const { promise, reject } = Promise.withResolvers<never>()
  const stop = () => reject(signal.reason instanceof ShelfdError ? signal.reason : new InterruptedError())
  const listening = onAbort(signal, stop)
  if (signal.aborted) stop()
  return Promise.race([shared, promise]).finally(() => listening[Symbol.dispose]())
}

/**
 * Calls `listener`, which must not throw, when the signal is aborted, unless the result is disposed of before. For signals that many
 * requests share: a listener that Node has removed still refers to the next one, so V8 would keep what all later listeners hold until it
 * marks its whole heap.
 */
export function onAbort(signal: AbortSignal, listener: () => void): Disposable {
  const listeners = listenersOf.get(signal) ?? new AbortListeners(signal)
  listeners.add(listener)
  return { [Symbol.dispose]: () => listeners.remove(listener) }
}

const listenersOf = new WeakMap<AbortSignal, AbortListeners>()

/** The listeners of a signal, of which the signal itself has one. An array does not refer from an older state to the next, as a Set does. */
class AbortListeners {
  readonly #signal: AbortSignal
  readonly #listeners: (() => void)[] = []

  constructor(signal: AbortSignal) {
    this.#signal = signal
    signal.addEventListener('abort', this.#callAll)
    listenersOf.set(signal, this)
  }

  add(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** Removes the listener, if it is there. The last one to go ends the listening, because a combined signal would stay in memory. */
  remove(listener: () => void): void {
    const index = this.#listeners.indexOf(listener)
    if (index < 0) return
    this.#listeners.splice(index, 1)
    if (this.#listeners.length > 0) return
    this.#signal.removeEventListener('abort', this.#callAll)
    listenersOf.delete(this.#signal)
  }

  readonly #callAll = (): void => {
    for (const listener of [...this.#listeners]) if (this.#listeners.includes(listener)) listener()
  }
}

/** Waits for `work`. After `limitMs`, throws TemporaryError('answer-late'); `work` continues unobserved. */
export async function withinTime<T>(work: Promise<T>, limitMs: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    reject(new TemporaryError('answer-late', `no answer within ${limitMs / 1_000} s`))
  }, limitMs)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
