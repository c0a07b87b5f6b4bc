import { Worker } from 'node:worker_threads'
import { threadEntry } from '../../foundation/thread-entry.ts'
import type { MirrorCounts } from './count-store.ts'

/** Counts what the store in a directory holds, in a thread that ends with it: the caller goes on with its work meanwhile. */
export function countInThread(stateDir: string): Promise<readonly MirrorCounts[]> {
  const worker = new Worker(threadEntry('./worker', import.meta.url), { workerData: stateDir, name: 'counting' })
  // Whoever wants to end does not wait for it.
  worker.unref()
  return new Promise((resolve, reject) => {
    worker.on('message', resolve)
    worker.on('error', reject)
    worker.on('exit', () => reject(new Error('The thread that counts has ended')))
  })
}
