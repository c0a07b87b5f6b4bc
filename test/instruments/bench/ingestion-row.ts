import { readFileSync, writeFileSync } from 'node:fs'
import { ServiceClient } from '../../contract/service-client.ts'
import { serveLibrary } from '../soak/library.ts'
import type { Bench } from './bench.ts'
import { median } from './pairs.ts'
import { type ResultRow, resultRow, verdict } from './result-table.ts'
import { runChild } from './run-child.ts'
import { listContents } from './trees.ts'

const POST = new URL('./children/post-files.ts', import.meta.url)
const CONNECTIONS = 16
const LEAST_RATE = 1_000

/** `shelfd serve` in a process of its own takes the small texts of a tree from the bare undici loop; each must be searchable when it is answered. */
export async function ingestionRow({ workspace, program, options }: Bench, tree: string): Promise<ResultRow> {
  const listFile = workspace.fresh('texts')
  writeFileSync(listFile, JSON.stringify(listContents(tree)))
  const rates: number[] = []
  for (let run = 0; run < options.runs; run += 1) {
    await using library = await serveLibrary(program, workspace.fresh('served'))
    const token = readFileSync(library.tokenFile, 'utf8').trim()
    const client = new ServiceClient({ url: library.url, token, settled: async () => {} })
    const libraryId = await client.createLibrary()
    const posting = { serviceUrl: library.url, token, libraryId, connections: CONNECTIONS, listFile }
    const { seconds, files } = await runChild(POST, { ...posting, status: 'completed' })
    rates.push(files / seconds)
  }
  const rate = median(rates)
  return resultRow({
    work: `ingestion of files of 1 KB, posted by the bare undici loop over ${CONNECTIONS} connections`,
    ours: `${Math.round(rate)} files/s`,
    target: `≥ ${LEAST_RATE} files/s`,
    verdict: verdict(rate >= LEAST_RATE),
  })
}
