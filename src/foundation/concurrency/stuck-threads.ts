import type { Worker } from 'node:worker_threads'

/** Threads that may be in a call of a file system that never returns. */
const calling = new Set<Worker>()

/** Call it for a thread that calls file systems. */
export function mayGetStuck(worker: Worker): void {
  calling.add(worker)
  worker.once('exit', () => calling.delete(worker))
}

/** Returns whether a thread may be stuck, which would keep the process from ending. */
export function mayBeStuck(): boolean {
  return calling.size > 0
}
