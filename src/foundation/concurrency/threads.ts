import { once } from 'node:events'
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { parentPort, Worker, type WorkerOptions, workerData } from 'node:worker_threads'
import { TemporaryError } from '../errors.ts'
import { withinTime } from './within-time.ts'

const END = 'end'
const GRACE_MS = 2_000
/** A thread loads within a second, unless the disk of the program hangs. */
const LOADING_MS = 10_000
const TERMINATION_MS = 1_000

/** Shared by a thread and the one that started it. */
const IS_LOADING = 0
const IS_ASKED_TO_END = 1

const isThreadOfOurs = workerData?.loading instanceof Int32Array
const ownState: Int32Array | undefined = isThreadOfOurs ? workerData.state : undefined
const loading: Int32Array = isThreadOfOurs ? workerData.loading : new Int32Array(new SharedArrayBuffer(4))

/** In a thread: what `startThread` was given for its entry. */
export const threadData = isThreadOfOurs ? workerData.data : undefined

const states = new WeakMap<Worker, Int32Array>()
let holdsExit = false

/** Starts a thread whose entry calls `serveThread`, and finds `data` in `threadData`. */
export function startThread(
  entry: URL,
  { data, ...options }: Omit<WorkerOptions, 'workerData'> & { readonly name: string; readonly data?: unknown },
): Worker {
  const state = new Int32Array(new SharedArrayBuffer(8))
  state[IS_LOADING] = 1
  const worker = new Worker(entry, { ...options, env: threadEnvironment(), workerData: { loading, state, data } })
  Atomics.add(loading, 0, 1)
  states.set(worker, state)
  worker.once('exit', () => setLoaded(state))
  if (!holdsExit) process.on('exit', waitWhileLoading)
  holdsExit = true
  return worker
}

/** The cache of compiled code of this process, which a thread knows by its environment alone. */
function threadEnvironment(): NodeJS.ProcessEnv {
  const directory = getCompileCacheDir()
  // Node keeps the files of each version of it in a directory below the one that it was given.
  return directory === undefined ? process.env : { NODE_COMPILE_CACHE: dirname(directory), ...process.env }
}

/** Call it in a thread as soon as all its modules are loaded. When the thread is asked to end, runs `stop`. */
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

/** In a thread: long work can be broken off once this is true. */
export function isAskedToEnd(): boolean {
  return ownState !== undefined && Atomics.load(ownState, IS_ASKED_TO_END) === 1
}

/**
 * Asks a thread to end, and terminates it after `graceMs`. A thread that hangs in a system call even then is abandoned. Throws the error
 * that ended the thread.
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

/** Terminating a thread while it loads a native module ends the process (SIGABRT in napi_register_module_v1, seen with better-sqlite3). */
async function untilLoaded(): Promise<void> {
  const endMs = performance.now() + LOADING_MS
  for (let count = Atomics.load(loading, 0); count > 0; count = Atomics.load(loading, 0)) {
    const leftMs = endMs - performance.now()
    if (leftMs <= 0) return
    await Atomics.waitAsync(loading, 0, count, leftMs).value
  }
}

/** Like `untilLoaded`, at the end of the process or of a thread with threads, when Node terminates those that are left. */
function waitWhileLoading(): void {
  const endMs = performance.now() + LOADING_MS
  for (let count = Atomics.load(loading, 0); count > 0; count = Atomics.load(loading, 0)) {
    const leftMs = endMs - performance.now()
    if (leftMs <= 0) return
    Atomics.wait(loading, 0, count, leftMs)
  }
}
