import type { Worker } from 'node:worker_threads'

/** Running threads that call file systems, and may wait for an answer without end. */
const calling = new Set<Worker>()

/** Records a running thread that calls file systems. */
export function trackFileSystemThread(worker: Worker): void {
  calling.add(worker)
  worker.once('exit', () => calling.delete(worker))
}

/** Returns whether a thread may be stuck, which would keep the process from ending. */
export function mayAnyThreadBeStuck(): boolean {
  return calling.size > 0
}
