import { availableParallelism } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import { systemClock } from '../../foundation/clock.ts'
import { trackFileSystemThread } from '../../foundation/concurrency/stuck-threads.ts'
import { threadEntry } from '../../foundation/concurrency/thread-entry.ts'
import { endThread, startThread } from '../../foundation/concurrency/threads.ts'
import { onAbort } from '../../foundation/concurrency/waits.ts'
import { boundedFileSystem, mayBlock } from '../../local/read/bounded-file-system.ts'
import { ANSWER_MS, nodeFileSystem } from '../../local/read/file-system.ts'
import { awaitRoot, type RootPlace } from '../../local/read/open-and-recheck-root.ts'
import type { OnRead } from '../../local/read/read-meter.ts'
import type { StoreReader } from '../../store/open-store.ts'
import {
  amountOf,
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
import { type ChildDirectory, createScanner, type Scanner, scopeAt } from './scan-directory.ts'
import { SMALL_TREE, type SmallTree, walkSmallTree } from './walk-small-tree.ts'

/** Returns a function that starts a walk by threads, which also compare and hash; the caller only records the batches. */
export function walkByThreads(threads: number): StartWalk {
  return (options, signal, onRead) => walkInThreads({ threads, options, onRead }, signal, [''])
}

/** If the store has more directories of a tree, walking the tree takes longer than starting a thread. */
const SMALL_TREE_DIRECTORIES = 500

/** Like `walkByThreads`, but this thread walks, too: a small tree alone, since starting a thread would take longer than the walk. */
export function walkBySize(store: StoreReader, threads: number, bounds = SMALL_TREE): StartWalk {
  return (options, signal, onRead) => {
    const spec = { threads, options, onRead }
    if (mayBlock(options.root.realPath)) return walkInThreads(spec, signal, [''])
    const scanner = createScanner(store, options, { fs: nodeFileSystem, clock: systemClock })
    const own = { scanner, bounds }
    const shared = threads === 1 ? spec : { ...spec, threads: threads - 1, own }
    // For a large tree the threads start at once, while the caller asks the service.
    const isLarge = (options.storedDirectoryCount ?? 0) > SMALL_TREE_DIRECTORIES
    return isLarge ? walkInThreads(shared, signal, ['']) : walkHere(own, shared, signal)
  }
}

async function* walkHere({ scanner, bounds }: OwnWalk, spec: TreeWalkSpec, signal: AbortSignal) {
  signal.throwIfAborted()
  const { batches, remaining } = walkSmallTree(scanner, bounds)
  for (const batch of batches) {
    spec.onRead?.(amountOf(batch))
    yield batch
  }
  if (remaining.length > 0) {
    const paths = remaining.map(({ path }) => path)
    await using walk = walkInThreads(spec, signal, paths)
    yield* walk
  }
  signal.throwIfAborted()
}

/** How the calling thread walks. Because it must not block, it walks only trees on local disks. */
interface OwnWalk {
  readonly scanner: Scanner
  readonly bounds: SmallTree
}

interface WalkerSpec {
  readonly threads: number
  readonly options: RescanOptions
  readonly onRead?: OnRead | undefined
  /** The calling thread walks as well while it waits for the others. */
  readonly own?: OwnWalk
}

type TreeWalkSpec = WalkerSpec & { readonly options: WalkOptions }

/** Walks the directories `paths` of a tree, each with all below it. */
function walkInThreads(spec: TreeWalkSpec, signal: AbortSignal, paths: readonly string[]): Walk {
  const pool = new WalkerPool(spec)
  pool.walk(spec.options.root, paths)
  const listening = failOnAbort(pool, signal)
  const watch = failOnSilence(pool, spec.options.root, signal)
  return {
    [Symbol.asyncIterator]: () => batchesOf(pool),
    async [Symbol.asyncDispose]() {
      listening[Symbol.dispose]()
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
      using _listening = failOnAbort(pool, signal)
      using _watch = failOnSilence(pool, work.root, signal)
      if (work.kind === 'trees') pool.walk(work.root, work.paths)
      else pool.start({ ...work, kind: 'rescan' })
      yield* batchesOf(pool)
    },
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  }
}

async function* batchesOf(pool: WalkerPool): AsyncGenerator<ScanBatch> {
  for (let batch = await pool.next(); batch; batch = await pool.next()) yield batch
}

function failOnAbort(pool: WalkerPool, signal: AbortSignal): Disposable {
  const stop = () => pool.fail(signal.reason)
  if (signal.aborted) stop()
  return onAbort(signal, stop)
}

/** Fails a walk whose threads wait for a mount that does not answer. A long read continues as long as its mount answers. */
function failOnSilence(pool: WalkerPool, { realPath }: RootPlace, signal: AbortSignal): Disposable {
  const ask = async () => {
    if (performance.now() - pool.lastMessageMs < ANSWER_MS) return
    const mounts = [realPath, ...boundedFileSystem.mountsIn(realPath)]
    const asked = mounts.map((path) => awaitRoot(boundedFileSystem, path, { clock: systemClock, signal }))
    await Promise.all(asked).catch((error: unknown) => pool.fail(error))
  }
  const timer = setInterval(ask, ANSWER_MS)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/** Megabytes. Without a limit, V8 lets the young generation grow to 256 MB; the old one has room for 2,000,000 files in a directory. */
const LIMITS = { maxYoungGenerationSizeMb: 3, maxOldGenerationSizeMb: 1_024 }

let spare: Worker | undefined

export function prepareThread(): void {
  const worker = newThread()
  spare = worker
  worker.unref()
  // The error is ignored, because the walk then starts another thread and reports the errors of that one.
  worker.once('error', () => {
    if (spare === worker) spare = undefined
  })
}

function takeThread(): Worker {
  const worker = spare ?? newThread()
  spare = undefined
  worker.ref()
  trackFileSystemThread(worker)
  return worker
}

function newThread(): Worker {
  return startThread(threadEntry('./walk-thread', import.meta.url), { resourceLimits: LIMITS, name: 'walk' })
}

/** More threads than processors help with slow disks, for which threads wait, but each thread takes memory. */
const THREADS_PER_PROCESSOR = 4

/** After this time the calling thread pauses its walk, so that it can answer signals and the service. */
const SLICE_MS = 10

/** Threads that walk a tree together. A busy thread gives half of its stack to an idle one, until all are idle. */
class WalkerPool implements AsyncDisposable {
  readonly #onRead: OnRead | undefined
  readonly #own: OwnWalk | undefined
  /** The directories of the calling thread, and the batches that it has made. */
  readonly #stack: ChildDirectory[] = []
  readonly #ownBatches: ScanBatch[] = []
  readonly #shared = new Int32Array(new SharedArrayBuffer(8))
  readonly #workers: Worker[]
  readonly #idle: Worker[] = []
  readonly #batches: ScanBatch[] = []
  /** Stolen paths that wait for the next idle thread. */
  readonly #unassigned: string[] = []
  #root: RootPlace | undefined
  #failure: { readonly reason: unknown } | undefined
  lastMessageMs = performance.now()
  #wake = () => {}

  constructor({ threads, options, onRead, own }: WalkerSpec) {
    this.#onRead = onRead
    this.#own = own
    this.#shared[CREDITS] = MAX_BATCHES_UNDER_WAY
    const length = Math.min(threads, THREADS_PER_PROCESSOR * availableParallelism())
    this.#workers = Array.from({ length }, () => this.#start(options))
    for (const worker of this.#workers) this.#markIdle(worker)
  }

  /** Walks directories below a root, which must stay open until the walk ends. */
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
      const own = this.#ownBatches.shift()
      if (own) return own
      if (this.#own && this.#stack.length > 0) {
        this.#walkSlice(this.#own)
        await setImmediate()
        continue
      }
      if (this.#idle.length === this.#workers.length) return undefined
      await this.#wait()
    }
  }

  /** Waits for a message. Meanwhile the calling thread counts as idle, so that a busy one gives it half of its stack. */
  async #wait(): Promise<void> {
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    if (!this.#own) return woken
    Atomics.add(this.#shared, IDLE_WORKERS, 1)
    await woken
    Atomics.sub(this.#shared, IDLE_WORKERS, 1)
  }

  /** Walks for a short time on the calling thread. Leaves a directory that exceeds the bounds to the other threads. */
  #walkSlice({ scanner, bounds }: OwnWalk): void {
    const slice = { ...bounds, sliceMs: SLICE_MS }
    const { batches, remaining } = walkSmallTree(scanner, slice, this.#stack.splice(0))
    for (const batch of batches) this.#onRead?.(amountOf(batch))
    this.#ownBatches.push(...batches)
    const tooLarge = batches.length === 0 ? remaining.pop() : undefined
    this.#stack.push(...remaining)
    if (tooLarge) this.#assign([tooLarge.path])
    else if (this.#idle.length > 0) this.#assign(this.#stack.splice(0, this.#stack.length >> 1).map(({ path }) => path))
  }

  fail(reason: unknown): void {
    this.#failure ??= { reason }
    this.#wake()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = this.#workers.map((worker) => endThread(worker))
    // Some threads wait until their batches are read, which no longer happens.
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
    this.lastMessageMs = performance.now()
    if (message.kind === 'read') {
      this.#onRead?.(message.amount)
      return
    }
    if (message.kind === 'batch') this.#batches.push(message.batch)
    else if (message.kind === 'stolen') this.#share(message.paths)
    else this.#markIdle(worker)
    this.#wake()
  }

  /** Gives stolen directories to the calling thread, unless it has some of its own or another thread is idle. */
  #share(paths: readonly string[]): void {
    const own = this.#own
    if (!own || this.#idle.length > 0 || this.#stack.length > 0) {
      this.#assign(paths)
      return
    }
    try {
      this.#stack.push(...paths.map((path) => ({ path, scope: scopeAt(own.scanner, path) })))
    } catch (error) {
      this.fail(error)
    }
  }

  #assign(paths: readonly string[]): void {
    if (paths.length === 0) return
    const worker = this.#idle.pop()
    if (!worker) {
      // The thread that was idle has got work from another one meanwhile, so the next idle thread takes these paths.
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
