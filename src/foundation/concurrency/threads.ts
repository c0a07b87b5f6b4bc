import { once } from 'node:events'
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { parentPort, Worker, type WorkerOptions, workerData } from 'node:worker_threads'
import { TemporaryError } from '../errors.ts'
import { withinTime } from './waits.ts'

const END = 'end'
const GRACE_MS = 2_000
/** A thread loads within a second, unless the disk of the program hangs. */
const LOADING_MS = 10_000
const TERMINATION_MS = 1_000

/** Indexes of the state that a thread shares with the one that started it. */
const IS_LOADING = 0
const IS_ASKED_TO_END = 1

const isThreadOfOurs = workerData?.loading instanceof Int32Array
const ownState: Int32Array | undefined = isThreadOfOurs ? workerData.state : undefined
const loading: Int32Array = isThreadOfOurs ? workerData.loading : new Int32Array(new SharedArrayBuffer(4))

/** In a thread: the `data` that `startThread` was given. */
export const threadData = isThreadOfOurs ? workerData.data : undefined

const states = new WeakMap<Worker, Int32Array>()
let waitsAtExit = false

/** Starts a thread. Its entry must call `serveThread`, and gets `data` as `threadData`. */
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
  if (!waitsAtExit) process.on('exit', waitWhileLoading)
  waitsAtExit = true
  return worker
}

/** Returns a thread's environment with this process's cache of compiled code, which the thread learns only from it. */
function threadEnvironment(): NodeJS.ProcessEnv {
  const directory = getCompileCacheDir()
  // NODE_COMPILE_CACHE names the parent of this directory, in which each version of Node has a subdirectory.
  return directory === undefined ? process.env : { NODE_COMPILE_CACHE: dirname(directory), ...process.env }
}

/** Passes messages to `receive`; when the thread is asked to end, runs `stop`. Call it as soon as all modules of the thread are loaded. */
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

/** Returns whether the calling thread is asked to end, so that it can break off long work. */
export function isAskedToEnd(): boolean {
  return ownState !== undefined && Atomics.load(ownState, IS_ASKED_TO_END) === 1
}

/** Ends a thread, and terminates it after `graceMs`; one that hangs in a system call is abandoned. Throws the thread's error. */
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

/** Waits until no thread is loading: terminating one that loads a native module ends the process (SIGABRT, seen with better-sqlite3). */
async function untilLoaded(): Promise<void> {
  const endMs = performance.now() + LOADING_MS
  for (let count = Atomics.load(loading, 0); count > 0; count = Atomics.load(loading, 0)) {
    const remainingMs = endMs - performance.now()
    if (remainingMs <= 0) return
    await Atomics.waitAsync(loading, 0, count, remainingMs).value
  }
}

/** Blocks like `untilLoaded` when a process or a thread ends, because Node then terminates the threads that it has started. */
function waitWhileLoading(): void {
  const endMs = performance.now() + LOADING_MS
  for (let count = Atomics.load(loading, 0); count > 0; count = Atomics.load(loading, 0)) {
    const remainingMs = endMs - performance.now()
    if (remainingMs <= 0) return
    Atomics.wait(loading, 0, count, remainingMs)
  }
}
