import { Worker } from 'node:worker_threads'
import { threadEntry } from '../../foundation/concurrency/thread-entry.ts'
import { errorOf } from '../../foundation/http/fault.ts'
import type { Readings } from './readings.ts'
import type { ReadingRequest, ReadingResponse } from './thread-messages.ts'

type Read = <K extends keyof Readings>(name: K, input: Parameters<Readings[K]>[0]) => Promise<ReturnType<Readings[K]>>

/** Reads the store in a thread of its own, so that a report of a million files holds up nothing else. */
export interface ThreadReader extends AsyncDisposable {
  readonly read: Read
}

interface Waiting {
  resolve(answer: never): void
  reject(error: unknown): void
}

/** The thread starts with the first reading; if it ends, the next reading starts another. */
export function readInThread(stateDir: string): ThreadReader {
  const waiting = new Map<number, Waiting>()
  let worker: Worker | undefined
  let asked = 0
  const start = () => {
    const started = new Worker(threadEntry('./reading-thread', import.meta.url), {
      workerData: stateDir,
      name: 'dashboard',
    })
    const fail = (error: unknown) => {
      if (worker === started) worker = undefined
      for (const { reject } of waiting.values()) reject(error)
      waiting.clear()
    }
    started.on('message', (answer: ReadingResponse) => {
      const reader = waiting.get(answer.id)
      waiting.delete(answer.id)
      if ('fault' in answer) reader?.reject(errorOf(answer.fault))
      else reader?.resolve(answer.answer as never)
    })
    started.on('error', fail)
    started.on('exit', () => fail(new Error('The thread that reads the state has ended')))
    // The process may end without waiting for the thread.
    started.unref()
    return started
  }
  return {
    read: (name, input) => {
      worker ??= start()
      asked += 1
      const request: ReadingRequest = { id: asked, name, input }
      return new Promise((resolve, reject) => {
        waiting.set(request.id, { resolve, reject })
        worker?.postMessage(request)
      })
    },
    [Symbol.asyncDispose]: async () => {
      await worker?.terminate()
    },
  }
}
