import { uptime } from 'node:os'
import { setTimeout as sleepTimer } from 'node:timers/promises'

/** Time as a parameter, so that the engine can run in simulated time. */
export interface Clock {
  /** Wall clock, milliseconds since the Unix epoch, for people and records. */
  nowMs(): number
  /** Milliseconds of a clock that never goes back, for delays and deadlines. */
  monotonicMs(): number
  /** Resolves after `durationMs`; rejects with the signal's reason when aborted. */
  sleep(durationMs: number, signal?: AbortSignal): Promise<void>
  /** Calls `callback` after `durationMs`, at most 24 days. The timer does not keep the process alive. */
  startTimer(durationMs: number, callback: () => void): Timer
}

export interface Moment {
  readonly wallMs: number
  readonly monotonicMs: number
}

export function momentOf(clock: Clock): Moment {
  return { wallMs: clock.nowMs(), monotonicMs: clock.monotonicMs() }
}

export interface Timer extends Disposable {
  refresh(): void
}

/** Node fires a timer with a longer delay at once. */
const MAX_TIMER_MS = 2 ** 31 - 1

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: async (durationMs, signal) => {
    try {
      let waitMs = durationMs
      for (; waitMs > MAX_TIMER_MS; waitMs -= MAX_TIMER_MS) await sleepTimer(MAX_TIMER_MS, undefined, { signal })
      await sleepTimer(waitMs, undefined, { signal })
    } catch (error) {
      throw signal?.aborted ? signal.reason : error
    }
  },
  startTimer: (durationMs, callback) => {
    const timer = setTimeout(callback, Math.min(durationMs, MAX_TIMER_MS)).unref()
    return { refresh: () => void timer.refresh(), [Symbol.dispose]: () => clearTimeout(timer) }
  },
}

/** A shorter sleep of the machine is not noticed, since the clocks advance by steps and the wall clock may be slewed. */
const MIN_SLEEP_MS = 50
const READ_EVERY_MS = 1_000

/**
 * Returns a clock that shows the milliseconds since the machine started, including its sleep. Reading the system's value takes some 20 µs,
 * so that is done once a second, and when the wall clock shows a sleep or was changed.
 */
export function bootClock(clock: Clock = systemClock, readMs = () => uptime() * 1_000): () => number {
  let read: (Moment & { readonly bootMs: number }) | undefined
  return () => {
    const { wallMs, monotonicMs } = momentOf(clock)
    const sinceMs = read ? monotonicMs - read.monotonicMs : 0
    const jumpMs = read ? wallMs - read.wallMs - sinceMs : 0
    if (!read || sinceMs > READ_EVERY_MS || Math.abs(jumpMs) > MIN_SLEEP_MS) {
      read = { wallMs, monotonicMs, bootMs: readMs() }
      return read.bootMs
    }
    return read.bootMs + sinceMs
  }
}

/** Calls `callback` after any duration, without keeping the process alive. */
export function callAfter(durationMs: number, callback: () => void): void {
  const thisMs = Math.min(durationMs, MAX_TIMER_MS)
  const goOn = () => (thisMs < durationMs ? callAfter(durationMs - thisMs, callback) : callback())
  setTimeout(goOn, thisMs).unref()
}

/** Returns a number in [0, 1); a parameter, so that tests can choose it. */
export type Random = () => number
