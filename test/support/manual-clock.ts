import type { Clock, Timer } from '../../src/foundation/clock.ts'

export interface ManualClock extends Clock {
  /** Lets time pass: both clocks advance, and sleepers wake in order. */
  advance(durationMs: number): Promise<void>
  /** Lets all work continue that waits only for its turn in the event loop. */
  settle(): Promise<void>
  /** Lets time pass until the next sleeper is due, and lets what it wakes continue; false when nobody sleeps. */
  advanceToNext(): Promise<boolean>
  /** Sets the wall clock only, as a suspended machine or an administrator does; sleepers notice nothing. */
  jump(byMs: number): void
  /** Returns how many sleep now. */
  countSleepers(): number
}

interface Sleeper {
  dueMs: number
  readonly wake: () => void
}

/** A clock that stands still until a test advances it; its wall clock begins at `nowMs`. */
export function manualClock(nowMs = Date.UTC(2026, 0, 1)): ManualClock {
  let wallMs = nowMs
  let monotonicMs = 0
  const sleepers = new Set<Sleeper>()
  const passTo = (dueMs: number) => {
    wallMs += Math.max(0, dueMs - monotonicMs)
    monotonicMs = Math.max(monotonicMs, dueMs)
  }
  const wakeNext = async (endMs: number) => {
    const next = earliest(sleepers, endMs)
    if (!next) return false
    passTo(next.dueMs)
    sleepers.delete(next)
    next.wake()
    await settle()
    return true
  }
  return {
    nowMs: () => Math.floor(wallMs),
    monotonicMs: () => monotonicMs,
    countSleepers: () => sleepers.size,
    jump: (byMs) => {
      wallMs += byMs
    },
    sleep: (durationMs, signal) =>
      new Promise((resolve, reject) => {
        const abort = () => {
          sleepers.delete(sleeper)
          reject(signal?.reason)
        }
        const wake = () => {
          signal?.removeEventListener('abort', abort)
          resolve()
        }
        const sleeper = { dueMs: monotonicMs + Math.max(0, durationMs), wake }
        sleepers.add(sleeper)
        if (signal?.aborted) abort()
        else signal?.addEventListener('abort', abort, { once: true })
      }),
    startTimer: (durationMs, callback): Timer => {
      const sleeper = { dueMs: monotonicMs + Math.max(0, durationMs), wake: callback }
      sleepers.add(sleeper)
      const refresh = () => {
        sleepers.delete(sleeper)
        sleeper.dueMs = monotonicMs + Math.max(0, durationMs)
        sleepers.add(sleeper)
      }
      return { refresh, [Symbol.dispose]: () => void sleepers.delete(sleeper) }
    },
    settle,
    advanceToNext: () => wakeNext(Number.POSITIVE_INFINITY),
    advance: async (durationMs) => {
      const endMs = monotonicMs + durationMs
      await settle()
      while (await wakeNext(endMs));
      passTo(endMs)
    },
  }
}

/** Of several that are due at the same time, the one that began first. */
function earliest(sleepers: ReadonlySet<Sleeper>, endMs: number): Sleeper | undefined {
  let first: Sleeper | undefined
  for (const sleeper of sleepers) {
    if (sleeper.dueMs <= endMs && (first === undefined || sleeper.dueMs < first.dueMs)) first = sleeper
  }
  return first
}

function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
