import { Worker } from 'node:worker_threads'
import { threadEntry } from '../../foundation/concurrency/thread-entry.ts'
import type { MirrorCounts } from './count-store.ts'

/** Counts what the store in `stateDir` holds, in a thread of its own, so that the caller is not blocked. */
export function countInThread(stateDir: string): Promise<readonly MirrorCounts[]> {
  const worker = new Worker(threadEntry('./count-thread', import.meta.url), { workerData: stateDir, name: 'counting' })
  // The process may end without waiting for the thread.
  worker.unref()
  return new Promise((resolve, reject) => {
    worker.on('message', resolve)
    worker.on('error', reject)
    worker.on('exit', () => reject(new Error('The counting thread ended')))
  })
}
