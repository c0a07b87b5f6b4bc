/** Starts and ends the threads of the program; nothing else does. */
import { once } from 'node:events'
import { parentPort, Worker, type WorkerOptions, workerData } from 'node:worker_threads'
import { TemporaryError } from '../errors.ts'
import { withinTime } from './within-time.ts'

interface ThreadOptions extends Omit<WorkerOptions, 'workerData'> {
  readonly name: string
  /** What its entry finds in `threadData`. */
  readonly data?: unknown
}

const END = 'end'
const GRACE_MS = 2_000
/** A thread loads within a second, also on a busy machine, unless the disk of the program hangs. */
const LOADING_MS = 10_000
const TERMINATION_MS = 1_000

/** The state of a thread, which it shares with the one that started it. */
const IS_LOADING = 0
const IS_ASKED_TO_END = 1

const isThreadOfOurs = workerData?.loading instanceof Int32Array
const ownState: Int32Array | undefined = isThreadOfOurs ? workerData.state : undefined
/** The number of threads of the process that load their modules, shared by all of them. */
const loading: Int32Array = isThreadOfOurs ? workerData.loading : new Int32Array(new SharedArrayBuffer(4))

/** In a thread: what `startThread` was given for its entry. */
export const threadData = isThreadOfOurs ? workerData.data : undefined

const states = new WeakMap<Worker, Int32Array>()
let holdsExit = false

/** Starts a thread whose entry calls `serveThread`. */
export function startThread(entry: URL, { data, ...options }: ThreadOptions): Worker {
  const state = new Int32Array(new SharedArrayBuffer(8))
  state[IS_LOADING] = 1
  const worker = new Worker(entry, { ...options, workerData: { loading, state, data } })
  Atomics.add(loading, 0, 1)
  states.set(worker, state)
  worker.once('exit', () => setLoaded(state))
  if (!holdsExit) process.on('exit', waitWhileLoading)
  holdsExit = true
  return worker
}

/**
 * In a thread, as soon as all its modules are loaded, native ones as well: `receive` gets what is posted to it. When it is asked to end,
 * runs `stop` and lets it end.
 */
export function serveThread<Message>(
  receive: (message: Message) => void,
  stop: () => void | Promise<void> = () => {},
): void {
  if (ownState) setLoaded(ownState)
  parentPort?.on('message', async (message: Message | typeof END) => {
    if (message !== END) return receive(message)
    await stop()
    parentPort?.close()
  })
}

/** In a thread: true once it was asked to end, so that long work can be broken off. */
export function isAskedToEnd(): boolean {
  return ownState !== undefined && Atomics.load(ownState, IS_ASKED_TO_END) === 1
}

/**
 * Asks a thread to end, and terminates it when it has not ended after `graceMs`. One that hangs in a call of the system even then is
 * left alone: nothing else ends such a thread than the end of the process. Throws the error that ended the thread, if one did.
 */
export async function endThread(worker: Worker, graceMs = GRACE_MS): Promise<void> {
  if (hasEnded(worker)) return
  worker.ref()
  const state = states.get(worker)
  if (state) Atomics.store(state, IS_ASKED_TO_END, 1)
  worker.postMessage(END)
  const exited = once(worker, 'exit')
  if (await isOver(exited, graceMs)) return
  await untilLoaded()
  const terminated = worker.terminate()
  if (!(await isOver(terminated, TERMINATION_MS))) worker.unref()
}

export function hasEnded({ threadId }: Worker): boolean {
  return threadId === -1
}

async function isOver(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  try {
    await withinTime(work, limitMs)
    return true
  } catch (error) {
    if (!(error instanceof TemporaryError)) throw error
    return false
  }
}

function setLoaded(state: Int32Array): void {
  if (Atomics.exchange(state, IS_LOADING, 0) === 0) return
  Atomics.sub(loading, 0, 1)
  Atomics.notify(loading, 0)
}

/**
 * Waits until no thread of the process loads its modules. A native module whose thread is terminated while it is loaded ends the whole
 * process (SIGABRT in napi_register_module_v1, seen with better-sqlite3).
 */
async function untilLoaded(): Promise<void> {
  const endMs = performance.now() + LOADING_MS
  for (let count = Atomics.load(loading, 0); count > 0; count = Atomics.load(loading, 0)) {
    const leftMs = endMs - performance.now()
    if (leftMs <= 0) return
    await Atomics.waitAsync(loading, 0, count, leftMs).value
  }
}

/** The same at the end of the process, and of a thread that has threads of its own, when Node terminates all that are left. */
function waitWhileLoading(): void {
  const endMs = performance.now() + LOADING_MS
  for (let count = Atomics.load(loading, 0); count > 0; count = Atomics.load(loading, 0)) {
    const leftMs = endMs - performance.now()
    if (leftMs <= 0) return
    Atomics.wait(loading, 0, count, leftMs)
  }
}
