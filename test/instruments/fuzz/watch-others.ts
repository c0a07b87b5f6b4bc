import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { z } from 'zod'
import type { WatchedServers } from './watch-thread.ts'

const waits = z.object({ library: z.array(z.number()), bare: z.array(z.number()) })

/** How long answers took, in milliseconds, ascending. */
export type Waits = z.infer<typeof waits>

/** Asks both servers in turn until `stop`, as someone else would: in a thread, where the work of the fuzzer delays nothing. */
export function watchOthers(workerData: WatchedServers): { stop(): Promise<Waits> } {
  const worker = new Worker(new URL('./watch-thread.ts', import.meta.url), { workerData })
  const failed = once(worker, 'error').then(([error]) => Promise.reject(error))
  failed.catch(() => {})
  return {
    stop: async () => {
      worker.postMessage('stop')
      const [found] = await Promise.race([once(worker, 'message'), failed])
      return waits.parse(found)
    },
  }
}

export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
}
