import type { Worker } from 'node:worker_threads'

/** Threads that have not ended, and may be in a call of a file system that never returns. */
const calling = new Set<Worker>()

/** Notes a thread that calls file systems until it has ended. */
export function mayGetStuck(worker: Worker): void {
  calling.add(worker)
  worker.once('exit', () => calling.delete(worker))
}

/** Returns whether the process has threads for which its end could wait without end. */
export function mayBeStuck(): boolean {
  return calling.size > 0
}
