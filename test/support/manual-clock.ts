import type { Clock } from '../../src/foundation/clock.ts'

export interface ManualClock extends Clock {
  /** Lets time pass: both clocks go on, and whoever sleeps wakes in order. */
  advance(durationMs: number): Promise<void>
  /** Sets the wall clock only, as a suspended machine or an administrator does; sleepers notice nothing. */
  jump(byMs: number): void
  /** How many sleep now. */
  countSleepers(): number
}

interface Sleeper {
  readonly dueMs: number
  readonly wake: () => void
}

/** A clock that stands still until it is told; it begins at `nowMs` on the wall. */
export function manualClock(nowMs = Date.UTC(2026, 0, 1)): ManualClock {
  let wallMs = nowMs
  let monotonicMs = 0
  const sleepers = new Set<Sleeper>()
  const passTo = (dueMs: number) => {
    wallMs += Math.max(0, dueMs - monotonicMs)
    monotonicMs = Math.max(monotonicMs, dueMs)
  }
  return {
    nowMs: () => wallMs,
    monotonicMs: () => monotonicMs,
    countSleepers: () => sleepers.size,
    jump: (byMs) => {
      wallMs += byMs
    },
    sleep: (durationMs, signal) =>
      new Promise((resolve, reject) => {
        const sleeper = { dueMs: monotonicMs + Math.max(0, durationMs), wake: resolve }
        sleepers.add(sleeper)
        const abort = () => {
          sleepers.delete(sleeper)
          reject(signal?.reason)
        }
        if (signal?.aborted) abort()
        else signal?.addEventListener('abort', abort, { once: true })
      }),
    advance: async (durationMs) => {
      const endMs = monotonicMs + durationMs
      await settle()
      for (let next = earliest(sleepers, endMs); next; next = earliest(sleepers, endMs)) {
        passTo(next.dueMs)
        sleepers.delete(next)
        next.wake()
        await settle()
      }
      passTo(endMs)
    },
  }
}

function earliest(sleepers: ReadonlySet<Sleeper>, endMs: number): Sleeper | undefined {
  const due = [...sleepers].filter(({ dueMs }) => dueMs <= endMs)
  return due.sort((left, right) => left.dueMs - right.dueMs)[0]
}

/** Lets everything go on that waits for nothing but its turn. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
