import { availableParallelism } from 'node:os'
import type { Worker } from 'node:worker_threads'
import { systemClock } from '../../foundation/clock.ts'
import { mayGetStuck } from '../../foundation/concurrency/stuck-threads.ts'
import { threadEntry } from '../../foundation/concurrency/thread-entry.ts'
import { endThread, startThread } from '../../foundation/concurrency/threads.ts'
import { boundedFileSystem } from '../../local/read/bounded-file-system.ts'
import { ANSWER_MS } from '../../local/read/file-system.ts'
import { awaitRoot, type RootPlace } from '../../local/read/open-and-recheck-root.ts'
import type { OnRead } from '../../local/read/read-meter.ts'
import {
  CREDITS,
  type FromWorker,
  IDLE_WORKERS,
  MAX_BATCHES_UNDER_WAY,
  type OpenRescanner,
  type RescanOptions,
  type ScanBatch,
  type StartWalk,
  type ToWorker,
  type Walk,
  type WalkOptions,
} from './scan-batch.ts'

/** The threads walk, compare and hash; the caller only records the batches. */
export function walkByThreads(threads: number): StartWalk {
  return (options, signal, onRead) => walkInThreads({ threads, options, onRead }, signal, [''])
}

interface WalkerSpec {
  readonly threads: number
  readonly options: RescanOptions
  readonly onRead?: OnRead | undefined
}

/** Walks the directories `paths` of a tree, each with all below it. */
export function walkInThreads(
  spec: WalkerSpec & { readonly options: WalkOptions },
  signal: AbortSignal,
  paths: readonly string[],
): Walk {
  const pool = new WalkerPool(spec)
  pool.walk(spec.options.root, paths)
  const unlink = failOnAbort(pool, signal)
  const watch = failOnSilence(pool, spec.options.root, signal)
  return {
    [Symbol.asyncIterator]: () => batchesOf(pool),
    async [Symbol.asyncDispose]() {
      unlink()
      watch[Symbol.dispose]()
      await pool[Symbol.asyncDispose]()
    },
  }
}

/** Rescans parts of a tree in one thread, which stays alive for the next part. */
export const rescanInThread: OpenRescanner = (options) => {
  const pool = new WalkerPool({ threads: 1, options })
  return {
    async *rescan(work, signal) {
      const unlink = failOnAbort(pool, signal)
      using _watch = failOnSilence(pool, work.root, signal)
      try {
        if (work.kind === 'trees') pool.walk(work.root, work.paths)
        else pool.start({ ...work, kind: 'rescan' })
        yield* batchesOf(pool)
      } finally {
        unlink()
      }
    },
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  }
}

async function* batchesOf(pool: WalkerPool): AsyncGenerator<ScanBatch> {
  for (let batch = await pool.next(); batch; batch = await pool.next()) yield batch
}

function failOnAbort(pool: WalkerPool, signal: AbortSignal): () => void {
  const stop = () => pool.fail(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  return () => signal.removeEventListener('abort', stop)
}

/** Fails a walk whose threads wait for a silent mount. A long read goes on while its mount answers. */
function failOnSilence(pool: WalkerPool, { realPath }: RootPlace, signal: AbortSignal): Disposable {
  const ask = async () => {
    if (performance.now() - pool.heardAtMs < ANSWER_MS) return
    const places = [realPath, ...boundedFileSystem.mountsIn(realPath)]
    const asked = places.map((path) => awaitRoot(boundedFileSystem, path, { clock: systemClock, signal }))
    await Promise.all(asked).catch((error: unknown) => pool.fail(error))
  }
  const timer = setInterval(ask, ANSWER_MS)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/**
 * A small young generation costs no time; without a limit V8 lets a heap grow to 256 MB. The old generation has room for two million
 * files in one directory.
 */
const LIMITS = { maxYoungGenerationSizeMb: 12, maxOldGenerationSizeMb: 1_024 }

let spare: Worker | undefined

export function prepareThread(): void {
  const worker = newThread()
  spare = worker
  worker.unref()
  // Ignored: the walk starts another one, and reports why that fails.
  worker.once('error', () => {
    if (spare === worker) spare = undefined
  })
}

function takeThread(): Worker {
  const worker = spare ?? newThread()
  spare = undefined
  worker.ref()
  mayGetStuck(worker)
  return worker
}

function newThread(): Worker {
  return startThread(threadEntry('./walk-thread', import.meta.url), { resourceLimits: LIMITS, name: 'walk' })
}

/** Slow disks keep more threads waiting than there are processors, but more threads take memory. */
const THREADS_PER_PROCESSOR = 4

/** A busy thread gives half of its stack to an idle one, until all are idle. */
class WalkerPool implements AsyncDisposable {
  readonly #onRead: OnRead | undefined
  readonly #shared = new Int32Array(new SharedArrayBuffer(8))
  readonly #workers: Worker[]
  readonly #idle: Worker[] = []
  readonly #batches: ScanBatch[] = []
  /** Stolen paths that wait for the next idle thread. */
  readonly #unassigned: string[] = []
  #root: RootPlace | undefined
  #failure: { readonly reason: unknown } | undefined
  heardAtMs = performance.now()
  #wake = () => {}

  constructor({ threads, options, onRead }: WalkerSpec) {
    this.#onRead = onRead
    this.#shared[CREDITS] = MAX_BATCHES_UNDER_WAY
    const length = Math.min(threads, THREADS_PER_PROCESSOR * availableParallelism())
    this.#workers = Array.from({ length }, () => this.#start(options))
    for (const worker of this.#workers) this.#markIdle(worker)
  }

  /** Walks directories below a root that is open until the walk ends. */
  walk(root: RootPlace, paths: readonly string[]): void {
    this.#root = root
    this.#assign(paths)
  }

  /** Gives the work to one thread; throws unless a thread is idle. */
  start(work: ToWorker): void {
    const worker = this.#idle.pop()
    if (!worker) throw new Error('All walking threads are busy')
    Atomics.sub(this.#shared, IDLE_WORKERS, 1)
    send(worker, work)
  }

  /** Returns the next batch; undefined when all threads are idle. Throws what a thread threw, or the reason of an abort. */
  async next(): Promise<ScanBatch | undefined> {
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
    const ended = this.#workers.map((worker) => endThread(worker))
    // Some threads wait until batches are read, which no longer happens.
    Atomics.add(this.#shared, CREDITS, ended.length)
    Atomics.notify(this.#shared, CREDITS)
    await Promise.all(ended)
  }

  #start(options: RescanOptions): Worker {
    const worker = takeThread()
    send(worker, { kind: 'open', options, shared: this.#shared })
    worker.on('message', (message: FromWorker) => this.#receive(worker, message))
    worker.on('error', (error) => this.fail(error))
    return worker
  }

  #receive(worker: Worker, message: FromWorker): void {
    this.heardAtMs = performance.now()
    if (message.kind === 'read') {
      this.#onRead?.(message.amount)
      return
    }
    if (message.kind === 'batch') this.#batches.push(message.batch)
    else if (message.kind === 'stolen') this.#assign(message.paths)
    else this.#markIdle(worker)
    this.#wake()
  }

  #assign(paths: readonly string[]): void {
    if (paths.length === 0) return
    const worker = this.#idle.pop()
    if (!worker) {
      // If paths were stolen for an idle thread, it has got work from a third one meanwhile; the next idle thread takes these.
      this.#unassigned.push(...paths)
      return
    }
    Atomics.sub(this.#shared, IDLE_WORKERS, 1)
    this.#sendWalk(worker, paths)
  }

  #sendWalk(worker: Worker, paths: readonly string[]): void {
    if (!this.#root) throw new Error('No walk has begun')
    send(worker, { kind: 'walk', root: this.#root, paths })
  }

  #markIdle(worker: Worker): void {
    if (this.#unassigned.length > 0) {
      this.#sendWalk(worker, this.#unassigned.splice(0))
      return
    }
    this.#idle.push(worker)
    Atomics.add(this.#shared, IDLE_WORKERS, 1)
  }
}

const send = (worker: Worker, message: ToWorker): void => worker.postMessage(message)
