import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { z } from 'zod'

const shape = z.object({
  library: z.object({ url: z.string(), token: z.string() }),
  bare: z.object({ url: z.string() }),
})
export type WatchedServers = z.infer<typeof shape>

const INTERVAL_MS = 50

const { library, bare } = shape.parse(workerData)
const headers = { authorization: `Bearer ${library.token}` }
const waits = { library: [] as number[], bare: [] as number[] }
const stopping = new AbortController()
if (parentPort) void once(parentPort, 'message').then(() => stopping.abort())
while (!stopping.signal.aborted) {
  waits.library.push(await timeOf(`${library.url}/api/v1/libraries?limit=5`, headers))
  waits.bare.push(await timeOf(bare.url, {}))
  await wait(INTERVAL_MS)
}
parentPort?.postMessage({ library: waits.library.sort(ascending), bare: waits.bare.sort(ascending) })

async function timeOf(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const startedMs = performance.now()
  const answer = await fetch(url, { headers })
  await answer.arrayBuffer()
  if (!answer.ok) throw new Error(`${url} was answered with ${answer.status}`)
  return performance.now() - startedMs
}

function ascending(a: number, b: number): number {
  return a - b
}
