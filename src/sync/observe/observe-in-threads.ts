import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { threadEntry } from '../../foundation/concurrency/thread-entry.ts'
import type { RootPlace } from '../../local/read/inspect-root.ts'
import type { OnRead } from '../../local/read/read-meter.ts'
import {
  amountOf,
  type ExamineOptions,
  type ObservationBatch,
  type ObserveTree,
  type OpenExaminer,
  type Walk,
  type WalkOptions,
} from './observation.ts'
import { CREDITS, type FromWorker, IDLE_WORKERS, MAX_BATCHES_UNDER_WAY, type ToWorker } from './walk-thread-messages.ts'

/** Observes a tree with `threads` threads: they walk, compare with the store and hash; the caller only records the batches. */
export function observeInThreads(threads: number): ObserveTree {
  return (options, signal, onRead) => walkInThreads({ threads, options, onRead }, signal, [''])
}

/** A walker on the caller's thread, which walks in steps of a few milliseconds. */
export interface OwnWalker {
  readonly hasWork: boolean
  /** The file system is too slow for it: it walks no more. */
  readonly hasRetired: boolean
  /** Takes directories, each with all below it. */
  take(paths: readonly string[]): void
  /** Gives half of its directories away; none if it has only one. */
  giveHalf(): readonly string[]
  step(): OwnStep
}

export interface OwnStep {
  readonly batches: readonly ObservationBatch[]
  /** Directories that only a thread may walk, since they would hold the caller up. */
  readonly left: readonly string[]
}

interface WalkerSpec {
  readonly threads: number
  readonly options: ExamineOptions
  /** Walks in place of one of the threads. */
  readonly own?: OwnWalker | undefined
  readonly onRead?: OnRead | undefined
}

/** Observes the directories `paths` of a tree, each with all below it. */
export function walkInThreads(
  spec: WalkerSpec & { readonly options: WalkOptions },
  signal: AbortSignal,
  paths: readonly string[],
): Walk {
  const pool = new WalkerPool(spec)
  pool.walk(spec.options.root, paths)
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
  const pool = new WalkerPool({ threads: 1, options })
  return {
    async *examine(work, signal) {
      const unlink = failOnAbort(pool, signal)
      try {
        if (work.kind === 'trees') pool.walk(work.root, work.paths)
        else pool.start({ ...work, kind: 'examine' })
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

let spare: Worker | undefined

/** Starts a thread for the next walk while this one prepares it. */
export function prepareThread(): void {
  const worker = newThread()
  spare = worker
  worker.unref()
  // Nobody waits for it yet; the walk starts another one, and reports why that fails.
  worker.once('error', () => {
    if (spare === worker) spare = undefined
  })
}

function takeThread(): Worker {
  const worker = spare ?? newThread()
  spare = undefined
  worker.ref()
  return worker
}

function newThread(): Worker {
  return new Worker(threadEntry('./walk-thread', import.meta.url), { resourceLimits: LIMITS })
}

/** Slow disks keep more threads waiting than there are processors; yet more would only take memory. */
const THREADS_PER_PROCESSOR = 4

/**
 * Threads, and perhaps a walker on this thread, that walk one tree by work stealing: a busy one gives half of its stack to an idle one,
 * until all are idle.
 */
class WalkerPool implements AsyncDisposable {
  readonly #options: ExamineOptions
  readonly #own: OwnWalker | undefined
  readonly #onRead: OnRead | undefined
  readonly #shared = new Int32Array(new SharedArrayBuffer(8))
  readonly #workers: Worker[]
  readonly #idle: Worker[] = []
  readonly #batches: ObservationBatch[] = []
  readonly #ownBatches: ObservationBatch[] = []
  /** Paths for the next idle thread: stolen ones that nobody was left to take, and those that only a thread may walk. */
  readonly #unassigned: string[] = []
  #root: RootPlace | undefined
  #failure: { readonly reason: unknown } | undefined
  #wake = () => {}

  constructor({ threads, options, own, onRead }: WalkerSpec) {
    this.#options = options
    this.#own = own
    this.#onRead = onRead
    this.#shared[CREDITS] = MAX_BATCHES_UNDER_WAY
    const most = Math.min(threads, THREADS_PER_PROCESSOR * availableParallelism())
    const count = own ? Math.max(1, most - 1) : most
    this.#workers = Array.from({ length: count }, () => this.#start(options))
    for (const worker of this.#workers) this.#markIdle(worker)
  }

  /** Walks directories below a root that is open until the walk ends. */
  walk(root: RootPlace, paths: readonly string[]): void {
    this.#root = root
    if (this.#own) this.#own.take(paths)
    else this.#assign(paths)
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
      const ownBatch = this.#ownBatches.shift()
      if (ownBatch) return ownBatch
      const batch = this.#batches.shift()
      if (batch) {
        Atomics.add(this.#shared, CREDITS, 1)
        Atomics.notify(this.#shared, CREDITS)
        return batch
      }
      if (this.#own?.hasWork) {
        this.#step(this.#own)
        // Between two steps this thread receives what the others have posted.
        await setImmediate()
      } else if (this.#idle.length === this.#workers.length) {
        return undefined
      } else {
        await this.#waitForMessage()
      }
    }
  }

  /** While this thread has nothing to walk, it counts as an idle one, from which busy threads do not hold their work back. */
  async #waitForMessage(): Promise<void> {
    const canWalk = this.#own?.hasRetired === false ? 1 : 0
    Atomics.add(this.#shared, IDLE_WORKERS, canWalk)
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    Atomics.sub(this.#shared, IDLE_WORKERS, canWalk)
  }

  #step(own: OwnWalker): void {
    if (this.#idle.length > 0) this.#assign(own.giveHalf())
    const { batches, left } = own.step()
    this.#ownBatches.push(...batches)
    for (const batch of batches) this.#onRead?.(amountOf(batch))
    this.#assign(left)
    if (!own.hasRetired) return
    const worker = this.#start(this.#options)
    this.#workers.push(worker)
    this.#markIdle(worker)
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

  #start(options: ExamineOptions): Worker {
    const worker = takeThread()
    send(worker, { kind: 'open', options, shared: this.#shared })
    worker.on('message', (message: FromWorker) => this.#receive(worker, message))
    worker.on('error', (error) => this.fail(error))
    return worker
  }

  #receive(worker: Worker, message: FromWorker): void {
    if (message.kind === 'read') {
      this.#onRead?.(message.amount)
      return
    }
    if (message.kind === 'batch') this.#batches.push(message.batch)
    else if (message.kind === 'stolen') this.#takeStolen(message.paths)
    else this.#markIdle(worker)
    this.#wake()
  }

  #takeStolen(paths: readonly string[]): void {
    const own = this.#own
    if (this.#idle.length === 0 && own && !own.hasWork && !own.hasRetired) own.take(paths)
    else this.#assign(paths)
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

function send(worker: Worker, message: ToWorker): void {
  worker.postMessage(message)
}

async function end(worker: Worker): Promise<void> {
  const exited = once(worker, 'exit')
  send(worker, { kind: 'end' })
  await exited
}
