import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { threadEntry } from '../../foundation/concurrency/thread-entry.ts'
import type { ObservationBatch, ObserveTree, OpenExaminer, Walk, WalkOptions } from './observation.ts'
import { CREDITS, type FromWorker, IDLE_WORKERS, MAX_BATCHES_UNDER_WAY, type ToWorker } from './walk-thread-messages.ts'

/** Observes a tree with `threads` threads: they walk, compare with the store and hash; the caller only records the batches. */
export function observeInThreads(threads: number): ObserveTree {
  return (options, signal) => walkInThreads(threads, options, signal, [''])
}

/** Observes the directories `paths` of a tree, each with all below it. */
export function walkInThreads(
  threads: number,
  options: WalkOptions,
  signal: AbortSignal,
  paths: readonly string[],
): Walk {
  const pool = new WalkerPool(options, threads)
  pool.start({ kind: 'walk', paths })
  const unlink = failOnAbort(pool, signal)
  return {
    [Symbol.asyncIterator]: () => batchesOf(pool),
    async [Symbol.asyncDispose]() {
      unlink()
      await pool[Symbol.asyncDispose]()
    },
  }
}

/** Examines parts of a tree in one thread, which stays alive for the next part. */
export const examineInThread: OpenExaminer = (options) => {
  const pool = new WalkerPool(options, 1)
  return {
    async *examine(work, signal) {
      const unlink = failOnAbort(pool, signal)
      const message: ToWorker = work.kind === 'trees' ? { ...work, kind: 'walk' } : { ...work, kind: 'examine' }
      try {
        pool.start(message)
        yield* batchesOf(pool)
      } finally {
        unlink()
      }
    },
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  }
}

async function* batchesOf(pool: WalkerPool): AsyncGenerator<ObservationBatch> {
  for (let batch = await pool.next(); batch; batch = await pool.next()) yield batch
}

function failOnAbort(pool: WalkerPool, signal: AbortSignal): () => void {
  const stop = () => pool.fail(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  return () => signal.removeEventListener('abort', stop)
}

/**
 * Most allocations of a walk are short-lived, so a small young generation costs no time and keeps the threads small. Without a
 * limit V8 lets a heap grow to 256 MB before it collects garbage. The old generation has room for two million known files in
 * one directory.
 */
const LIMITS = { maxYoungGenerationSizeMb: 12, maxOldGenerationSizeMb: 1_024 }

/** Threads that walk one tree by work stealing: a busy thread gives half of its stack to an idle one, until all are idle. */
class WalkerPool implements AsyncDisposable {
  readonly #shared = new Int32Array(new SharedArrayBuffer(8))
  readonly #workers: Worker[]
  readonly #idle: Worker[] = []
  readonly #batches: ObservationBatch[] = []
  /** Stolen paths that no idle thread was left to take. */
  readonly #unassigned: string[] = []
  #failure: { readonly reason: unknown } | undefined
  #wake = () => {}

  constructor(options: WalkOptions, threads: number) {
    this.#shared[CREDITS] = MAX_BATCHES_UNDER_WAY
    this.#workers = Array.from({ length: threads }, () => this.#start(options))
    for (const worker of this.#workers) this.#markIdle(worker)
  }

  /** Gives the work to one thread; throws unless a thread is idle. */
  start(work: ToWorker): void {
    const worker = this.#idle.pop()
    if (!worker) throw new Error('All walking threads are busy')
    Atomics.sub(this.#shared, IDLE_WORKERS, 1)
    send(worker, work)
  }

  /** Returns the next batch; undefined when all threads are idle. Throws what a thread threw, or the reason of an abort. */
  async next(): Promise<ObservationBatch | undefined> {
    for (;;) {
      if (this.#failure) throw this.#failure.reason
      const batch = this.#batches.shift()
      if (batch) {
        Atomics.add(this.#shared, CREDITS, 1)
        Atomics.notify(this.#shared, CREDITS)
        return batch
      }
      if (this.#idle.length === this.#workers.length) return undefined
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  fail(reason: unknown): void {
    this.#failure ??= { reason }
    this.#wake()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const isDone = !this.#failure && this.#idle.length === this.#workers.length
    if (isDone) await Promise.all(this.#workers.map(end))
    else await Promise.all(this.#workers.map((worker) => worker.terminate()))
  }

  #start(options: WalkOptions): Worker {
    const workerData = { options, shared: this.#shared }
    const worker = new Worker(threadEntry('./walk-thread', import.meta.url), { workerData, resourceLimits: LIMITS })
    worker.on('message', (message: FromWorker) => this.#receive(worker, message))
    worker.on('error', (error) => this.fail(error))
    return worker
  }

  #receive(worker: Worker, message: FromWorker): void {
    if (message.kind === 'batch') this.#batches.push(message.batch)
    else if (message.kind === 'stolen') this.#assignStolen(message.paths)
    else this.#markIdle(worker)
    this.#wake()
  }

  #assignStolen(paths: readonly string[]): void {
    const worker = this.#idle.pop()
    if (!worker) {
      // The idle thread has got work from a third one meanwhile; the next idle thread takes these paths.
      this.#unassigned.push(...paths)
      return
    }
    Atomics.sub(this.#shared, IDLE_WORKERS, 1)
    send(worker, { kind: 'walk', paths })
  }

  #markIdle(worker: Worker): void {
    if (this.#unassigned.length > 0) {
      send(worker, { kind: 'walk', paths: this.#unassigned.splice(0) })
      return
    }
    this.#idle.push(worker)
    Atomics.add(this.#shared, IDLE_WORKERS, 1)
  }
}

function send(worker: Worker, message: ToWorker): void {
  worker.postMessage(message)
}

async function end(worker: Worker): Promise<void> {
  const exited = once(worker, 'exit')
  send(worker, { kind: 'end' })
  await exited
}
