/** A reading is used again for twenty times as long as it took, but for two seconds at least. */
const USES_PER_READING = 20
const LEAST_USE_MS = 2_000

/** Keeps the last reading for a while, so that a thread is not busy with readings alone while much changes. */
export class KeptReading<T> {
  readonly #onDropped: (value: T) => void
  #kept: { readonly key: string; readonly value: T; readonly untilMs: number } | undefined

  constructor(onDropped: (value: T) => void = () => {}) {
    this.#onDropped = onDropped
  }

  /** The value that is kept under this key, or else what `read` returns now. */
  get(key: string, read: () => T): T {
    const startMs = performance.now()
    if (this.#kept?.key === key && startMs < this.#kept.untilMs) return this.#kept.value
    if (this.#kept) this.#onDropped(this.#kept.value)
    this.#kept = undefined
    const value = read()
    const endMs = performance.now()
    this.#kept = { key, value, untilMs: endMs + Math.max(LEAST_USE_MS, USES_PER_READING * (endMs - startMs)) }
    return value
  }
}
