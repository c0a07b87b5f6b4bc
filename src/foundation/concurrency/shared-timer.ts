import type { Clock, Timer } from '../clock.ts'

interface Deadline {
  dueMs: number
  readonly callback: () => void
}

/**
 * Returns the same clock, whose timers share one timer of `clock`. Made for deadlines that almost never pass: Node takes several
 * microseconds to start and stop a timer, and more when no other one has the same length.
 */
export function withSharedTimer(clock: Clock): Clock {
  const deadlines = new Deadlines(clock)
  return {
    nowMs: () => clock.nowMs(),
    monotonicMs: () => clock.monotonicMs(),
    sleep: (durationMs, signal) => clock.sleep(durationMs, signal),
    startTimer: (durationMs, callback) => deadlines.add(durationMs, callback),
  }
}

class Deadlines {
  readonly #clock: Clock
  readonly #pending = new Set<Deadline>()
  #timer: Timer | undefined
  /** When the timer fires: never later than the first deadline, often earlier. */
  #firesAtMs = Number.POSITIVE_INFINITY

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(durationMs: number, callback: () => void): Timer {
    const deadline = { dueMs: this.#clock.monotonicMs() + durationMs, callback }
    this.#pending.add(deadline)
    this.#fireBy(deadline.dueMs)
    return {
      refresh: () => {
        deadline.dueMs = this.#clock.monotonicMs() + durationMs
        this.#pending.add(deadline)
        this.#fireBy(deadline.dueMs)
      },
      [Symbol.dispose]: () => this.#remove(deadline),
    }
  }

  #remove(deadline: Deadline): void {
    if (this.#pending.delete(deadline) && this.#pending.size === 0) this.#stop()
  }

  #fireBy(dueMs: number): void {
    if (dueMs >= this.#firesAtMs) return
    this.#stop()
    this.#firesAtMs = dueMs
    this.#timer = this.#clock.startTimer(Math.ceil(dueMs - this.#clock.monotonicMs()), this.#fire)
  }

  #stop(): void {
    this.#timer?.[Symbol.dispose]()
    this.#timer = undefined
    this.#firesAtMs = Number.POSITIVE_INFINITY
  }

  /** A callback may add and remove deadlines. */
  readonly #fire = (): void => {
    // Node rounds, so a timer may fire a little early.
    const nowMs = Math.max(this.#clock.monotonicMs(), this.#firesAtMs)
    this.#stop()
    const passed = [...this.#pending].filter(({ dueMs }) => dueMs <= nowMs).toSorted((a, b) => a.dueMs - b.dueMs)
    for (const deadline of passed) if (this.#pending.delete(deadline)) deadline.callback()
    let firstMs = Number.POSITIVE_INFINITY
    for (const { dueMs } of this.#pending) firstMs = Math.min(firstMs, dueMs)
    this.#fireBy(firstMs)
  }
}
