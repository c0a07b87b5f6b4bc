import { type MetricFamily, parseExposition } from '../../support/exposition.ts'

/** What the daemon itself counts, summed over its mirrors. */
export interface Scrape {
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
