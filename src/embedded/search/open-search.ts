import { Worker } from 'node:worker_threads'
import PQueue from 'p-queue'
import type { Clock } from '../../foundation/clock.ts'
import { callThread, stopThread, ThreadEndedError } from '../../foundation/concurrency/thread-calls.ts'
import { threadEntry } from '../../foundation/concurrency/thread-entry.ts'
import { messageOf } from '../../foundation/errors.ts'
import type { Logger } from '../../foundation/logger.ts'
import { ApiError } from '../http/api-error.ts'
import type { SearchRequest, SearchResult } from './search-index.ts'

/** Searches in a thread of its own, so that no search holds up uploads. */
export interface Search {
  /** Throws ApiError 503 when the search takes too long, or too many others wait. */
  find(request: SearchRequest): Promise<SearchResult>
  /** Ends the thread; searches under way fail. */
  stop(): Promise<void>
}

const THREAD_URL = threadEntry('./search-thread', import.meta.url)
const MAX_WAITING = 256
const MAX_SEARCH_MS = 10_000

/** The thread starts with the first search, and again with the next one after a search that had to be broken off. */
export function openSearch(databaseFile: string, { clock, logger }: { clock: Clock; logger: Logger }): Search {
  const queue = new PQueue({ concurrency: 1 })
  let worker: Worker | undefined
  let isStopped = false
  const start = () => {
    const started = new Worker(THREAD_URL, { workerData: { databaseFile }, name: 'search' })
    started.unref()
    started.on('error', (error) => logger.error('The search thread failed', { error: messageOf(error) }))
    started.once('exit', () => {
      if (worker === started) worker = undefined
    })
    return started
  }
  const findNext = async (request: SearchRequest) => {
    if (isStopped) throw new ApiError(503, 'The service is stopping')
    worker ??= start()
    return await search(worker, request, clock)
  }
  return {
    find: (request) => {
      if (queue.size >= MAX_WAITING) return Promise.reject(new ApiError(503, 'Too many searches are waiting'))
      return queue.add(() => findNext(request))
    },
    stop: async () => {
      isStopped = true
      await queue.onIdle()
      if (worker) await stopThread(worker)
    },
  }
}

/** Ends the thread when the result does not come in time: nothing else ends a query of SQLite. */
async function search(worker: Worker, request: SearchRequest, clock: Clock): Promise<SearchResult> {
  let isLate = false
  using _ = clock.startTimer(MAX_SEARCH_MS, () => {
    isLate = true
    void worker.terminate()
  })
  try {
    return await callThread(worker, request)
  } catch (error) {
    if (!(error instanceof ThreadEndedError)) throw error
    throw error.cause ?? new ApiError(503, isLate ? 'The search took too long' : 'The search was broken off')
  }
}
