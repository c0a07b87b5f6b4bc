import { availableParallelism } from 'node:os'
import type { Worker } from 'node:worker_threads'
import type { Clock, Timer } from '../../foundation/clock.ts'
import { callThread, ThreadEndedError } from '../../foundation/concurrency/thread-calls.ts'
import { threadEntry } from '../../foundation/concurrency/thread-entry.ts'
import { endThread, startThread } from '../../foundation/concurrency/threads.ts'
import { messageOf } from '../../foundation/errors.ts'
import type { Logger } from '../../foundation/logger.ts'
import { ApiError } from '../http/api-error.ts'
import { openFairQueue } from './fair-queue.ts'
import { costOf } from './parse-query.ts'
import type { SearchRequest, SearchResult } from './search-index.ts'

/** Searches in threads of its own, so that no search holds up uploads. */
export interface Search {
  /** `asker` is the number of a token. Throws ApiError 503 when the search takes too long, or too many others wait. */
  find(request: SearchRequest, asker: number): Promise<SearchResult>
  /** Ends the threads; searches that wait fail. */
  stop(): Promise<void>
}

const THREAD_URL = threadEntry('./search-thread', import.meta.url)
const MAX_SEARCH_MS = 10_000
/** More would only wait for a processor. */
export const SEARCH_THREADS = Math.min(4, availableParallelism())
const REST_MS = 10_000

/** A thread starts with a search that finds none at rest. All but one end when there was no search for a while. */
export function openSearch(databaseFile: string, { clock, logger }: { clock: Clock; logger: Logger }): Search {
  const queue = openFairQueue(SEARCH_THREADS, clock)
  const threads = new Set<Worker>()
  // The one that rested the shortest time is the last.
  const resting: Worker[] = []
  let rest: Timer | undefined
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
      if (resting.includes(started)) resting.splice(resting.indexOf(started), 1)
    })
    return started
  }
  const endThreads = (kept: number) => Promise.allSettled(resting.splice(kept).map((worker) => endThread(worker)))
  const findNext = async (request: SearchRequest) => {
    if (isStopped) throw new ApiError(503, 'The service is stopping')
    const worker = resting.pop() ?? start()
    try {
      return await search(worker, request, clock)
    } finally {
      if (threads.has(worker)) resting.push(worker)
      if (rest) rest.refresh()
      else rest = clock.startTimer(REST_MS, () => void endThreads(1))
    }
  }
  return {
    find: (request, asker) => queue.run({ asker, cost: costOf(request.query) }, () => findNext(request)),
    stop: async () => {
      isStopped = true
      await queue.untilIdle()
      rest?.[Symbol.dispose]()
      await endThreads(0)
    },
  }
}

/** Ends the thread when the result does not come in time: nothing else ends a query of SQLite. */
async function search(worker: Worker, request: SearchRequest, clock: Clock): Promise<SearchResult> {
  let isLate = false
  using _ = clock.startTimer(MAX_SEARCH_MS, () => {
    isLate = true
    // What ends it with an error rejects the call.
    endThread(worker, 0).catch(() => {})
  })
  try {
    return await callThread(worker, request)
  } catch (error) {
    if (!(error instanceof ThreadEndedError)) throw error
    throw error.cause ?? new ApiError(503, isLate ? 'The search took too long' : 'The search was broken off')
  }
}
