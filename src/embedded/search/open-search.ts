import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import PQueue from 'p-queue'
import type { Clock } from '../../foundation/clock.ts'
import { askThread } from '../../foundation/concurrency/ask-thread.ts'
import { threadEntry } from '../../foundation/concurrency/thread-entry.ts'
import { messageOf } from '../../foundation/errors.ts'
import type { Logger } from '../../foundation/logger.ts'
import { ApiError } from '../http/api-error.ts'
import type { SearchRequest, SearchResult } from './search-index.ts'
import { type SearchCall, searchAnswered } from './search-messages.ts'

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
  let callCount = 0
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
    callCount += 1
    return await ask(
      worker,
      { call: callCount, ...request, libraryIds: request.libraryIds && [...request.libraryIds] },
      clock,
    )
  }
  return {
    find: (request) => {
      if (queue.size >= MAX_WAITING) return Promise.reject(new ApiError(503, 'Too many searches are waiting'))
      return queue.add(() => findNext(request))
    },
    stop: async () => {
      isStopped = true
      await queue.onIdle()
      if (!worker) return
      const exited = once(worker, 'exit')
      worker.ref()
      worker.postMessage('stop')
      await exited
    },
  }
}

/** Ends the thread when the answer does not come in time: nothing else ends a query of SQLite. */
async function ask(worker: Worker, call: SearchCall, clock: Clock): Promise<SearchResult> {
  let isLate = false
  using _ = clock.startTimer(MAX_SEARCH_MS, () => {
    isLate = true
    void worker.terminate()
  })
  return await askThread(worker, call, {
    read: (message) => {
      const answered = searchAnswered.parse(message)
      if (answered.call !== call.call) return undefined
      if (answered.kind === 'found') return { answer: answered.result }
      throw new Error(answered.error)
    },
    ended: (error) => error ?? new ApiError(503, isLate ? 'The search took too long' : 'The search was broken off'),
  })
}
