import { setInterval as every } from 'node:timers/promises'
import { type ProcessUse, readProcessUse } from './process-use.ts'
import { type Scrape, scrape } from './scrape.ts'
import type { Soak } from './soak.ts'

/** One look at the daemon and at what it mirrors. */
export interface Sample extends ProcessUse, Scrape {
  /** Since the changes began. */
  readonly seconds: number
  /** Local files. */
  readonly files: number
  /** Local changes so far. */
  readonly changes: number
}

const INTERVAL_MS = 5_000

/** Looks at once and then every five seconds, until `signal` is aborted. */
export async function* takeSamples(soak: Soak, signal: AbortSignal): AsyncGenerator<Sample> {
  const startMs = performance.now()
  const look = async () => ({ seconds: (performance.now() - startMs) / 1_000, ...(await takeSample(soak)) })
  yield await look()
  try {
    for await (const _ of every(INTERVAL_MS, undefined, { signal })) yield await look()
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

async function takeSample({ pid, metricsUrl, trees }: Soak): Promise<Omit<Sample, 'seconds'>> {
  const counted = await scrape(metricsUrl)
  return {
    ...readProcessUse(pid),
    ...counted,
    files: trees.reduce((sum, { churner }) => sum + churner.fileCount, 0),
    changes: trees.reduce((sum, { churner }) => sum + churner.changes, 0),
  }
}
