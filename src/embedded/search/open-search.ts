import { availableParallelism } from 'node:os'
import type { Worker } from 'node:worker_threads'
import type { Clock, Timer } from '../../foundation/clock.ts'
import { callThread, ThreadEndedError } from '../../foundation/concurrency/thread-calls.ts'
import { threadEntry } from '../../foundation/concurrency/thread-entry.ts'
import { endThread, startThread } from '../../foundation/concurrency/threads.ts'
import { messageOf } from '../../foundation/errors.ts'
import type { Logger } from '../../foundation/logger.ts'
import { ApiError } from '../http/api-error.ts'
import { costOf } from './parse-query.ts'
import type { SearchRequest, SearchResult } from './search-index.ts'

const THREAD_URL = threadEntry('./search-thread', import.meta.url)
const MAX_SEARCH_MS = 10_000
/** More threads would only wait for a processor. */
export const SEARCH_THREADS = Math.min(4, availableParallelism())
const IDLE_MS = 10_000

export type Search = ReturnType<typeof openSearch>

/**
 * Searches in threads of its own, so that no search holds up uploads. A search uses an idle thread, or starts one if there is none. When no
 * search has ended for IDLE_MS, all idle threads but one end.
 */
export function openSearch(databaseFile: string, { clock, logger }: { clock: Clock; logger: Logger }) {
  const queue = openFairQueue(SEARCH_THREADS, clock)
  const threads = new Set<Worker>()
  // The thread that was used last is at the end.
  const idle: Worker[] = []
  let idleTimer: Timer | undefined
  let isStopped = false
  const start = () => {
    const started = startThread(THREAD_URL, { data: { databaseFile }, name: 'search' })
    started.unref()
    threads.add(started)
    started.on('error', (error) => {
      threads.delete(started)
      logger.error('A search thread failed', { error: messageOf(error) })
    })
    started.once('exit', () => {
      threads.delete(started)
      if (idle.includes(started)) idle.splice(idle.indexOf(started), 1)
    })
    return started
  }
  const endThreads = (kept: number) => Promise.allSettled(idle.splice(kept).map((worker) => endThread(worker)))
  const findNext = async (request: SearchRequest) => {
    if (isStopped) throw new ApiError(503, 'The service is stopping')
    const worker = idle.pop() ?? start()
    try {
      return await search(worker, request, clock)
    } finally {
      if (threads.has(worker)) idle.push(worker)
      if (idleTimer) idleTimer.refresh()
      else idleTimer = clock.startTimer(IDLE_MS, () => void endThreads(1))
    }
  }
  return {
    /** Searches for the token with the row id `asker`. Throws ApiError 503 if the search takes too long, or too many others wait. */
    find: (request: SearchRequest, asker: number) =>
      queue.run({ asker, cost: costOf(request.query) }, () => findNext(request)),
    /** Waits for running searches, and ends the threads; searches that have not started fail. */
    stop: async () => {
      isStopped = true
      await queue.untilIdle()
      idleTimer?.[Symbol.dispose]()
      await endThreads(0)
    },
  }
}

/** Searches in a thread, and ends the thread if the search takes too long, because nothing else ends a query of SQLite. */
async function search(worker: Worker, request: SearchRequest, clock: Clock): Promise<SearchResult> {
  let isLate = false
  using _ = clock.startTimer(MAX_SEARCH_MS, () => {
    isLate = true
    // If the thread ends with an error, the call below is rejected with it.
    endThread(worker, 0).catch(() => {})
  })
  try {
    return await callThread(worker, request)
  } catch (error) {
    if (!(error instanceof ThreadEndedError)) throw error
    throw error.cause ?? new ApiError(503, isLate ? 'The search took too long' : 'The search was aborted')
  }
}

const MAX_WAITING = 256
/** One unit of cost delays work, against other work of the same asker, as if it had been added this much later. */
const COST_MS = 5

interface QueuedWork {
  readonly asker: number
  /** In units that only matter in comparison with other work of the same asker. */
  readonly cost: number
}

/**
 * Runs work of several askers, `slots` at a time. The asker with the least running work comes first; among equals, the one that has used
 * the least time. Of its work, the one that was added first runs next, where cost counts as a later addition. If all slots are busy, as
 * many further ones are available to askers with no running work.
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
    for (const counts of [running, usedMs]) counts.clear()
    for (const done of idle.splice(0)) done()
  }
  return {
    /** Runs `work` in its turn; throws ApiError 503 if too much work is waiting. */
    async run<T>({ asker, cost }: QueuedWork, work: () => Promise<T>): Promise<T> {
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
