import { once } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { threadEntry } from '../foundation/concurrency/thread-entry.ts'
import { rebuildError } from '../foundation/errors.ts'
import {
  type StartedMessage,
  type WorkerOptions,
  type WorkerRequest,
  workerMessage,
} from './library-thread-messages.ts'
import type { EmbeddedLibrary } from './start-embedded.ts'

const NURSERY_MIB = 8
const THREAD_URL = threadEntry('./library-thread', import.meta.url)

/**
 * Runs `startEmbeddedLibrary` in a worker thread, so that ingestion uses another core and never holds up the caller. Throws the
 * errors of `startEmbeddedLibrary`. If the thread dies later, `settled()` and disposal reject.
 */
export async function startEmbeddedInThread(workerData: WorkerOptions): Promise<EmbeddedLibrary> {
  const worker = startWithNursery(() => new Worker(THREAD_URL, { workerData, name: 'embedded library' }))
  const calls = new WorkerCalls(worker)
  const started = await calls.started
  // Only calls under way keep the process alive: a caller that forgets to dispose can still exit; the kernel releases the lock.
  worker.unref()
  return {
    ...started,
    settled: () => calls.call('settled'),
    [Symbol.asyncDispose]: async () => {
      if (calls.hasEnded) return
      const exited = once(worker, 'exit')
      await calls.call('stop')
      worker.ref()
      await exited
    },
  }
}

/**
 * Starts a thread whose nursery has NURSERY_MIB from its start on. The nursery of a thread begins with 1 MiB, and the program keeps
 * nurseries as large as they are; this thread would empty such a one every few requests.
 */
function startWithNursery(start: () => Worker): Worker {
  setFlagsFromString(`--min-semi-space-size=${NURSERY_MIB}`)
  const worker = start()
  worker.once('online', () => setFlagsFromString('--min-semi-space-size=0'))
  return worker
}

/** The calls to the worker that have not ended. */
class WorkerCalls {
  readonly #worker: Worker
  readonly #open = new Map<number, { resolve(): void; reject(error: Error): void }>()
  readonly started: Promise<StartedMessage['library']>
  hasEnded = false
  #count = 0

  constructor(worker: Worker) {
    this.#worker = worker
    this.started = new Promise((resolve, reject) => {
      worker.on('message', (raw) => {
        const message = workerMessage.parse(raw)
        if (message.kind === 'started') resolve(message.library)
        else if (message.kind === 'failed') reject(rebuildError(message.code ?? '', message.message))
        else this.#settle(message.call, message.error)
      })
      worker.on('error', (error) => this.#endAll(error, reject))
      worker.on('exit', () => this.#endAll(new Error('The embedded library has ended'), reject))
    })
  }

  call(name: WorkerRequest['name']): Promise<void> {
    if (this.hasEnded) return Promise.reject(new Error('The embedded library has ended'))
    this.#count += 1
    const call = this.#count
    const request: WorkerRequest = { call, name }
    this.#worker.ref()
    return new Promise((resolve, reject) => {
      this.#open.set(call, { resolve, reject })
      this.#worker.postMessage(request)
    })
  }

  #settle(call: number, error: string | undefined): void {
    const open = this.#open.get(call)
    this.#open.delete(call)
    if (this.#open.size === 0) this.#worker.unref()
    if (error === undefined) open?.resolve()
    else open?.reject(new Error(error))
  }

  #endAll(error: unknown, rejectStart: (error: unknown) => void): void {
    this.hasEnded = true
    rejectStart(error)
    for (const call of [...this.#open.keys()]) this.#settle(call, String(error))
  }
}
