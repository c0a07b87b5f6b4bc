import type { Clock } from '../../foundation/clock.ts'
import { ApiError } from '../http/api-error.ts'

const MAX_WAITING = 256
/** Each unit of cost counts as so much less time waited, among the work of one asker. */
const COST_MS = 5

interface Asked {
  readonly asker: number
  /** Next to others of the same asker. */
  readonly cost: number
}

/**
 * Runs work of several askers, `slots` at a time. Of those that wait, the one that has the least running comes first, then the one that
 * has used the least time. Of its work comes first what has waited longest, less its cost. Whoever has nothing running does not wait for
 * the others: there are as many slots once more for that.
 */
export function openFairQueue(slots: number, clock: Pick<Clock, 'monotonicMs'>) {
  const waiting: { readonly asker: number; readonly dueMs: number; readonly start: () => void }[] = []
  const running = new Map<number, number>()
  const usedMs = new Map<number, number>()
  const idle: (() => void)[] = []
  let busy = 0
  const runningOf = (asker: number) => running.get(asker) ?? 0
  const mayStart = (asker: number) => busy < slots || (runningOf(asker) === 0 && busy < 2 * slots)
  const compare = (one: number, other: number) =>
    runningOf(one) - runningOf(other) || (usedMs.get(one) ?? 0) - (usedMs.get(other) ?? 0)
  const startNext = () => {
    const [first] = waiting
      .filter(({ asker }) => mayStart(asker))
      .toSorted((one, other) => compare(one.asker, other.asker) || one.dueMs - other.dueMs)
    if (!first) return
    waiting.splice(waiting.indexOf(first), 1)
    first.start()
  }
  const end = (asker: number, sinceMs: number) => {
    busy -= 1
    running.set(asker, runningOf(asker) - 1)
    usedMs.set(asker, (usedMs.get(asker) ?? 0) + clock.monotonicMs() - sinceMs)
    startNext()
    if (busy > 0) return
    for (const known of [running, usedMs]) known.clear()
    for (const done of idle.splice(0)) done()
  }
  return {
    /** Throws ApiError 503 when too much waits. */
    async run<T>({ asker, cost }: Asked, work: () => Promise<T>): Promise<T> {
      const own = waiting.filter((each) => each.asker === asker).length
      if (!mayStart(asker)) {
        if (own >= MAX_WAITING || waiting.length >= 2 * MAX_WAITING)
          throw new ApiError(503, 'Too many searches are waiting')
        const dueMs = clock.monotonicMs() + cost * COST_MS
        await new Promise<void>((start) => waiting.push({ asker, dueMs, start: () => start(begin(asker)) }))
      } else begin(asker)
      const sinceMs = clock.monotonicMs()
      try {
        return await work()
      } finally {
        end(asker, sinceMs)
      }
    },
    /** Resolves when nothing runs or waits. */
    untilIdle: (): Promise<void> => (busy === 0 ? Promise.resolve() : new Promise((done) => idle.push(done))),
  }

  function begin(asker: number): void {
    busy += 1
    running.set(asker, runningOf(asker) + 1)
  }
}
