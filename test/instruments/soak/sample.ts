import { setInterval as every } from 'node:timers/promises'
import { type MetricFamily, parseExposition } from '../../support/exposition.ts'
import { type ProcessUse, readProcessUse } from './process-use.ts'
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

/** What the daemon itself counts, summed over its mirrors. */
interface Scrape {
  /** Uploads that the library took as new. */
  readonly uploads: number
  /** Uploads that ended as duplicates, refused or in doubt; without those whose file changed or vanished before the first byte was sent. */
  readonly otherUploads: number
  /** Changed files that only a scan found. */
  readonly missed: number
  readonly queued: number
  readonly settling: number
  readonly heapBytes: number
  /** Mirrors for which an operator must act. */
  readonly halted: number
}

/** Asks a daemon for its metrics. */
export async function scrape(url: string): Promise<Scrape> {
  const answer = await fetch(`${url}/metrics`)
  if (!answer.ok) throw new Error(`The daemon answered ${answer.status} to a scrape`)
  const families = parseExposition(await answer.text())
  const uploads = sum(families, 'shelfd_uploads_total', { outcome: 'created' })
  return {
    uploads,
    otherUploads:
      sum(families, 'shelfd_uploads_total') - uploads - sum(families, 'shelfd_uploads_total', { outcome: 'not-sent' }),
    missed: sum(families, 'shelfd_watcher_missed_files_total'),
    queued: sum(families, 'shelfd_queue_contents'),
    settling: sum(families, 'shelfd_settling_files'),
    heapBytes: sum(families, 'nodejs_heap_size_used_bytes'),
    halted: sum(families, 'shelfd_mirror_state', { state: 'halted' }),
  }
}

type Labels = Readonly<Record<string, string>>

function sum(families: ReadonlyMap<string, MetricFamily>, name: string, wanted: Labels = {}): number {
  const samples = families.get(name)?.samples ?? []
  return samples
    .filter(({ labels }) => Object.entries(wanted).every(([label, value]) => labels[label] === value))
    .reduce((total, { value }) => total + value, 0)
}
