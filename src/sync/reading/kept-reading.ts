import type { Clock } from '../../foundation/clock.ts'
import { systemClock } from '../../foundation/clock.ts'

/** How long a reading is used again: a multiple of its duration, within bounds. */
interface Use {
  readonly perReading: number
  readonly leastMs: number
  readonly mostMs: number
}

const USE: Use = { perReading: 20, leastMs: 2_000, mostMs: Number.POSITIVE_INFINITY }

interface KeptReadingOptions<T> {
  readonly use?: Use
  readonly clock?: Pick<Clock, 'monotonicMs'>
  /** Called with a value that is replaced. */
  readonly onDropped?: (value: T) => void
}

export class KeptReading<T> {
  readonly #use: Use
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #onDropped: (value: T) => void
  #kept: { readonly key: string; readonly value: T; readonly untilMs: number } | undefined

  constructor({ use = USE, clock = systemClock, onDropped = () => {} }: KeptReadingOptions<T> = {}) {
    this.#use = use
    this.#clock = clock
    this.#onDropped = onDropped
  }

  /** Returns the value that is kept under this key, or else what `read` returns now. Errors are not kept. */
  get(key: string, read: () => T): T {
    const startMs = this.#clock.monotonicMs()
    if (this.#kept?.key === key && startMs < this.#kept.untilMs) return this.#kept.value
    if (this.#kept) this.#onDropped(this.#kept.value)
    this.#kept = undefined
    const value = read()
    const endMs = this.#clock.monotonicMs()
    const { perReading, leastMs, mostMs } = this.#use
    const useMs = Math.min(mostMs, Math.max(leastMs, perReading * (endMs - startMs)))
    this.#kept = { key, value, untilMs: endMs + useMs }
    return value
  }
}
