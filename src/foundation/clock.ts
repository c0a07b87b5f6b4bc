import { setTimeout as sleepTimer } from 'node:timers/promises'

/** Time as a parameter, so that the engine can run in simulated time. */
export interface Clock {
  /** Wall clock, milliseconds since the Unix epoch: for people and records, never for decisions about order. */
  nowMs(): number
  /** Milliseconds from an arbitrary start that never go back: for pauses and deadlines. */
  monotonicMs(): number
  /** Resolves after `durationMs`; rejects with the signal's reason when aborted. */
  sleep(durationMs: number, signal?: AbortSignal): Promise<void>
  /** Calls `callback` once after `durationMs` (at most 24 days), unless the process has nothing else to wait for. */
  startTimer(durationMs: number, callback: () => void): Timer
}

/** A timer that has not fired yet, or did; disposing stops it. */
export interface Timer extends Disposable {
  /** Begins to count anew. */
  refresh(): void
}

/** A timer that is to count further is over at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: async (durationMs, signal) => {
    try {
      let leftMs = durationMs
      for (; leftMs > LONGEST_TIMER_MS; leftMs -= LONGEST_TIMER_MS)
        await sleepTimer(LONGEST_TIMER_MS, undefined, { signal })
      await sleepTimer(leftMs, undefined, { signal })
    } catch (error) {
      throw signal?.aborted ? signal.reason : error
    }
  },
  startTimer: (durationMs, callback) => {
    const timer = setTimeout(callback, Math.min(durationMs, LONGEST_TIMER_MS)).unref()
    return { refresh: () => void timer.refresh(), [Symbol.dispose]: () => clearTimeout(timer) }
  },
}

/** Calls `callback` after `durationMs`, unless the process has nothing else to wait for. */
export function callAfter(durationMs: number, callback: () => void): void {
  const thisMs = Math.min(durationMs, LONGEST_TIMER_MS)
  const goOn = () => (thisMs < durationMs ? callAfter(durationMs - thisMs, callback) : callback())
  setTimeout(goOn, thisMs).unref()
}

/** A number in [0, 1): randomness as a parameter. */
export type Random = () => number
