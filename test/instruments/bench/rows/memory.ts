import type { Bench } from '../bench.ts'
import { type ResultRow, resultRow, showMegabytes, showSeconds, verdict } from '../result-table.ts'
import type { ShelfdRun } from '../run-shelfd.ts'

const MAX_BYTES = { first: 165e6, second: 115e6 } as const

/** Peak resident memory of whole runs against the null service, which is a process of its own. */
export async function memory({ firstSync }: Bench): Promise<ResultRow[]> {
  const { first, second, files } = await firstSync.get()
  return [
    peakRow(`first sync of ${files} files`, first, MAX_BYTES.first),
    peakRow('second sync', second, MAX_BYTES.second),
  ]
}

function peakRow(work: string, { peakBytes, seconds }: ShelfdRun, mostBytes: number): ResultRow {
  return resultRow({
    work: `peak memory, ${work}`,
    ours: `${showMegabytes(peakBytes)} (${showSeconds(seconds)})`,
    target: `≤ ${showMegabytes(mostBytes)}`,
    verdict: verdict(peakBytes <= mostBytes),
  })
}
