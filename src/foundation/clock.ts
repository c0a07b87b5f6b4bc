import { setTimeout as sleepTimer } from 'node:timers/promises'

/** Time as a parameter, so that the engine can run in simulated time. */
export interface Clock {
  /** Wall clock, milliseconds since the Unix epoch: for people and records, never for decisions about order. */
  nowMs(): number
  /** Milliseconds from an arbitrary start that never go back: for pauses and deadlines. */
  monotonicMs(): number
  /** Resolves after `durationMs`; rejects with the signal's reason when aborted. */
  sleep(durationMs: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: async (durationMs, signal) => {
    try {
      await sleepTimer(durationMs, undefined, { signal })
    } catch (error) {
      throw signal?.aborted ? signal.reason : error
    }
  },
}

/** A number in [0, 1): randomness as a parameter. */
export type Random = () => number
