import type { Worker } from 'node:worker_threads'
import { trackFileSystemThread } from '../../foundation/concurrency/stuck-threads.ts'
import { callThread } from '../../foundation/concurrency/thread-calls.ts'
import { threadEntry } from '../../foundation/concurrency/thread-entry.ts'
import { endThread, startThread } from '../../foundation/concurrency/threads.ts'
import type { Readings } from './readings.ts'

/** Reads the store in a thread, so that a report of a million files blocks nothing else. */
export interface StateReader extends AsyncDisposable {
  readonly read: <K extends keyof Readings>(
    name: K,
    input: Parameters<Readings[K]>[0],
  ) => Promise<ReturnType<Readings[K]>>
}

/** The thread starts with the first reading; if it ends, the next reading starts another. */
export function openStateReader(stateDir: string): StateReader {
  let worker: Worker | undefined
  const start = () => {
    const entry = threadEntry('./reading-thread', import.meta.url)
    const started = startThread(entry, { data: stateDir, name: 'reading' })
    trackFileSystemThread(started)
    started.on('error', () => {})
    started.once('exit', () => {
      if (worker === started) worker = undefined
    })
    return started
  }
  return {
    read: (name, input) => {
      worker ??= start()
      return callThread(worker, { name, input })
    },
    [Symbol.asyncDispose]: async () => {
      if (worker) await endThread(worker)
    },
  }
}
