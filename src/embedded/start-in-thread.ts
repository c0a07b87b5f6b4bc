import { setFlagsFromString } from 'node:v8'
import { MessageChannel, type Worker } from 'node:worker_threads'
import { callThread, ThreadEndedError } from '../foundation/concurrency/thread-calls.ts'
import { threadEntry } from '../foundation/concurrency/thread-entry.ts'
import { endThread, startThread } from '../foundation/concurrency/threads.ts'
import type { EmbeddingProgress } from './embedding/embedding-stage.ts'
import type { EmbeddedLibrary, EmbeddedOptions } from './start-embedded.ts'

/** The options that can be passed to another thread. */
export type LibraryThreadOptions = Pick<
  EmbeddedOptions,
  'dataDir' | 'embedder' | 'embedsDocuments' | 'startedBy' | 'typedProgram' | 'host' | 'port'
>

/** The thread's response to `start`. */
export type StartedLibrary = Omit<EmbeddedLibrary, 'settled' | 'embedFor' | 'uploadPort' | typeof Symbol.asyncDispose>

/** A call of the thread; a number is a call of `embedFor` with this time in milliseconds. */
export type LibraryCall = 'start' | 'settled' | number

const NURSERY_MIB = 8
/** Long enough to finish requests, searches and commits. If a thread takes longer, its disk hangs. */
const GRACE_MS = 30_000
const THREAD_URL = threadEntry('./library-thread', import.meta.url)

/**
 * Runs `startEmbeddedLibrary` in a worker thread, so that ingestion uses another core and never holds up the caller; throws the same
 * errors. If the thread dies later, `settled()` rejects. Only unfinished calls keep the process alive: if a caller forgets to dispose, the
 * process can still exit, and the kernel then releases the lock.
 */
export async function startEmbeddedInThread(options: LibraryThreadOptions): Promise<EmbeddedLibrary> {
  const { port1: uploadPort, port2 } = new MessageChannel()
  const data = { ...options, uploadPort: port2 }
  let isOpen = true
  uploadPort.once('close', () => {
    isOpen = false
  })
  const worker = startWithNursery(() =>
    startThread(THREAD_URL, { data, transferList: [port2], name: 'embedded library' }),
  )
  const call = <Result>(name: LibraryCall) => callThread<LibraryCall, Result>(worker, name)
  try {
    const started = await call<StartedLibrary>('start')
    return {
      ...started,
      get uploadPort() {
        return isOpen ? uploadPort : undefined
      },
      embedFor: (forMs) => call<EmbeddingProgress>(forMs),
      settled: async () => void (await call('settled')),
      [Symbol.asyncDispose]: () => endThread(worker, GRACE_MS),
    }
  } catch (error) {
    await endThread(worker, GRACE_MS)
    throw error instanceof ThreadEndedError ? (error.cause ?? error) : error
  }
}

/**
 * Starts a thread with a nursery of NURSERY_MIB, the space of V8 for new objects. By default it has 1 MiB and does not grow in this
 * program, so that it would be collected every few requests.
 */
function startWithNursery(start: () => Worker): Worker {
  setFlagsFromString(`--min-semi-space-size=${NURSERY_MIB}`)
  const worker = start()
  worker.once('online', () => setFlagsFromString('--min-semi-space-size=0'))
  // A thread that fails rejects its calls; without a listener, the error would end the process.
  worker.on('error', () => {})
  return worker
}
