import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { threadEntry } from '../../foundation/thread-entry.ts'
import type { ObservationBatch, ObserveTree, OpenExaminer, WalkOptions } from './observation.ts'
import { CREDITS, type FromWorker, HUNGRY, MOST_BATCHES_UNDER_WAY, type ToWorker } from './worker-messages.ts'

/** Observes a tree with `threads` threads: they walk, compare with the store and hash; the caller only records. */
export function observeInThreads(threads: number): ObserveTree {
  return (options, signal) => {
    // Where nothing is known yet, every file is recorded, which keeps the caller as busy as one thread.
    const isFirstPass = options.storeDirectory === null
    const pool = new WalkingPool(options, isFirstPass ? Math.max(1, threads - 1) : threads)
    pool.begin({ kind: 'walk', paths: [''] })
    const unlink = failOnAbort(pool, signal)
    return {
      [Symbol.asyncIterator]: () => batchesOf(pool),
      async [Symbol.asyncDispose]() {
        unlink()
        await pool[Symbol.asyncDispose]()
      },
    }
  }
}

/** Examines parts of a tree in one thread, which is kept for the next part. */
export const examineInThread: OpenExaminer = (options) => {
  const pool = new WalkingPool(options, 1)
  return {
    async *examine(work, signal) {
      const unlink = failOnAbort(pool, signal)
      const message: ToWorker = work.kind === 'trees' ? { ...work, kind: 'walk' } : { ...work, kind: 'examine' }
      try {
        pool.begin(message)
        yield* batchesOf(pool)
      } finally {
        unlink()
      }
    },
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  }
}

async function* batchesOf(pool: WalkingPool): AsyncGenerator<ObservationBatch> {
  for (let batch = await pool.next(); batch; batch = await pool.next()) yield batch
}

function failOnAbort(pool: WalkingPool, signal: AbortSignal): () => void {
  const stop = () => pool.fail(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  return () => signal.removeEventListener('abort', stop)
}

/**
 * What walks allocate dies young: a small nursery costs nothing and keeps the threads small. Told no limit, V8 lets a heap grow to
 * 256 MB before it looks for garbage; this one holds what is known of two million files in one directory.
 */
const LIMITS = { maxYoungGenerationSizeMb: 12, maxOldGenerationSizeMb: 1_024 }

/** Deals out parts of the tree: whoever has many gives half to whoever has none, until all are idle. */
class WalkingPool implements AsyncDisposable {
  readonly #shared = new Int32Array(new SharedArrayBuffer(8))
  readonly #workers: Worker[]
  readonly #idle: Worker[] = []
  readonly #batches: ObservationBatch[] = []
  #failure: { readonly reason: unknown } | undefined
  #wake = () => {}

  constructor(options: WalkOptions, threads: number) {
    this.#shared[CREDITS] = MOST_BATCHES_UNDER_WAY
    this.#workers = Array.from({ length: threads }, () => this.#start(options))
    for (const worker of this.#workers) this.#rest(worker)
  }

  /** Gives the work to a thread; all must be idle. */
  begin(work: ToWorker): void {
    const worker = this.#idle.pop()
    if (!worker) throw new Error('The walking threads are busy')
    Atomics.sub(this.#shared, HUNGRY, 1)
    send(worker, work)
  }

  /** The next batch; undefined when the whole tree was walked. */
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
    const worker = new Worker(threadEntry('./worker', import.meta.url), { workerData, resourceLimits: LIMITS })
    worker.on('message', (message: FromWorker) => this.#receive(worker, message))
    worker.on('error', (error) => this.fail(error))
    return worker
  }

  #receive(worker: Worker, message: FromWorker): void {
    if (message.kind === 'batch') this.#batches.push(message.batch)
    else if (message.kind === 'share') this.#deal(message.paths)
    else this.#rest(worker)
    this.#wake()
  }

  #deal(paths: readonly string[]): void {
    const worker = this.#idle.pop()
    if (!worker) {
      // Whoever was idle has got work from another meanwhile; the parts wait for the next one.
      this.#waiting.push(...paths)
      return
    }
    Atomics.sub(this.#shared, HUNGRY, 1)
    send(worker, { kind: 'walk', paths })
  }

  readonly #waiting: string[] = []

  #rest(worker: Worker): void {
    if (this.#waiting.length > 0) {
      send(worker, { kind: 'walk', paths: this.#waiting.splice(0) })
      return
    }
    this.#idle.push(worker)
    Atomics.add(this.#shared, HUNGRY, 1)
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
