import { setTimeout as wait } from 'node:timers/promises'

/** How long answers took, in milliseconds, ascending. */
export interface Waits {
  readonly library: readonly number[]
  readonly bare: readonly number[]
}

const INTERVAL_MS = 50

/** Asks both servers in turn, as someone else would, until `stop`. */
export function watchOthers(
  library: { readonly url: string; readonly token: string },
  bare: { readonly url: string },
): { stop(): Promise<Waits> } {
  const stopping = new AbortController()
  const waits = { library: [] as number[], bare: [] as number[] }
  const headers = { authorization: `Bearer ${library.token}` }
  const work = async () => {
    while (!stopping.signal.aborted) {
      waits.library.push(await timeOf(`${library.url}/api/v1/libraries?limit=5`, headers))
      waits.bare.push(await timeOf(bare.url, {}))
      await wait(INTERVAL_MS)
    }
  }
  const working = work()
  return {
    stop: async () => {
      stopping.abort()
      await working
      return { library: waits.library.sort(ascending), bare: waits.bare.sort(ascending) }
    },
  }
}

async function timeOf(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const startedMs = performance.now()
  const answer = await fetch(url, { headers })
  await answer.arrayBuffer()
  if (!answer.ok) throw new Error(`${url} was answered with ${answer.status}`)
  return performance.now() - startedMs
}

const ascending = (a: number, b: number) => a - b

export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
}
