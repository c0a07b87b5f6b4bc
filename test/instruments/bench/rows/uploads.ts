import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import { print } from '../../instrument.ts'
import type { Bench } from '../bench.ts'
import type { ChildMeasure } from '../children/bench-engine.ts'
import { compareInPairs } from '../pairs.ts'
import { comparisonCells, type ResultRow, resultRow, showRatio, verdict, verdictOnRatios } from '../result-table.ts'
import { type Measure, runChild } from '../run-process.ts'
import { chooseSubtree, listContents } from '../trees.ts'

const ENGINE = new URL('../children/upload-files.ts', import.meta.url)
const BARE = new URL('../children/post-files.ts', import.meta.url)
const WANTED_FILES = 5_700
const MIN_RATE = 0.85
const MAX_CPU = 1.25

/** Uploads of small files over loopback, beside a loop that only reads and posts them. */
export async function uploads(bench: Bench): Promise<ResultRow[]> {
  const tree = chooseSubtree(bench.tree, WANTED_FILES)
  const paths = listContents(tree)
  const listFile = bench.workspace.fresh('files')
  writeFileSync(listFile, JSON.stringify(paths))
  print(`uploads: ${paths.length} different contents of ${relative(bench.tree, tree) || 'the whole tree'}`)
  const rows: ResultRow[] = []
  for (const transfers of [8, 32]) rows.push(await uploadWith(bench, { tree, listFile, transfers }))
  return rows
}

interface UploadCase {
  readonly tree: string
  readonly listFile: string
  readonly transfers: number
}

async function uploadWith(bench: Bench, { tree, listFile, transfers }: UploadCase): Promise<ResultRow> {
  const serviceUrl = bench.service.url
  const stateDir = () => bench.workspace.fresh('state')
  const ours = async () => perFile(await runChild(ENGINE, { tree, serviceUrl, stateDir: stateDir(), transfers }))
  const posting = { serviceUrl, token: 'bench', libraryId: 'bench', connections: transfers, listFile }
  const bare = async () => perFile(await runChild(BARE, posting))
  const compared = await compareInPairs(bench.options.runs, ours, bare)
  const isCheap = (compared.cpuRatio ?? Number.POSITIVE_INFINITY) <= MAX_CPU
  return resultRow({
    work: `uploads, ${transfers} at once`,
    ours: showRate(compared.oursSeconds),
    peer: 'bare undici loop',
    theirs: showRate(compared.theirsSeconds),
    ...comparisonCells(compared),
    ratio: showRatio(1 / compared.timeRatio),
    target: `≥ ${MIN_RATE} × at ≤ ${MAX_CPU} × cpu`,
    verdict: isCheap ? verdictOnRatios(compared.timeRatios, (timeRatio) => 1 / timeRatio >= MIN_RATE) : verdict(false),
  })
}

/** Of one file, so that both sides count the same should one of them leave a file out. */
function perFile({ seconds, cpuSeconds, files }: ChildMeasure): Measure {
  return { seconds: seconds / files, cpuSeconds: cpuSeconds / files }
}

function showRate(secondsPerFile: number): string {
  return `${Math.round(1 / secondsPerFile)} files/s`
}
