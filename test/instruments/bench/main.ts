/** `npm run bench`: how fast shelfd is, beside others on the same work in the same run; see docs/development/benchmarks.md. */
import { basename } from 'node:path'
import { z } from 'zod'
import { describeLoad, describeMachine, flag, print, runInstrument, wholeNumber } from '../instrument.ts'
import { type Bench, openBench } from './bench.ts'
import { type ResultRow, renderResults } from './result-table.ts'
import { writeResults } from './results-page.ts'
import { daemon } from './rows/daemon.ts'
import { firstPass } from './rows/first-pass.ts'
import { hosts } from './rows/hosts.ts'
import { largeLibrary } from './rows/large-library.ts'
import { latency } from './rows/latency.ts'
import { ledger } from './rows/ledger.ts'
import { library } from './rows/library.ts'
import { memory } from './rows/memory.ts'
import { million } from './rows/million.ts'
import { report } from './rows/report.ts'
import { start } from './rows/start.ts'
import { unchangedPass } from './rows/unchanged-pass.ts'
import { uploads } from './rows/uploads.ts'
import { watching } from './rows/watching.ts'
import { openWorkspace } from './workspace.ts'

const ROWS = {
  start,
  unchanged: unchangedPass,
  'first-pass': firstPass,
  uploads,
  memory,
  watching,
  daemon,
  latency,
  report,
  ledger,
  hosts,
  library,
  'large-library': largeLibrary,
  million,
} satisfies Record<string, (bench: Bench) => Promise<ResultRow[]>>

type RowName = keyof typeof ROWS

const ROW_NAMES = Object.keys(ROWS) as RowName[]
const OFF_BY_DEFAULT: readonly RowName[] = ['million', 'large-library']

const OPTIONS = z
  .object({
    tree: z.string().optional().describe('the tree to work on, by default the best one this machine has'),
    only: z
      .array(z.enum(ROW_NAMES))
      .default([])
      .describe(`a row: ${ROW_NAMES.join(', ')}`),
    runs: wholeNumber(1, 1_000).optional().describe('pairs of each comparison, by default 7'),
    contents: wholeNumber(1, 100_000_000)
      .optional()
      .describe('contents that the row ledger fills its ledger with, by default 200,000'),
    quick: flag().describe('2 pairs on a small tree: shows that it all works, not how fast it is'),
    million: flag().describe('also the row million'),
    write: flag().describe('write the results into docs/development/benchmarks.md'),
  })
  .transform(({ only, million: withMillion, ...options }) => ({
    ...options,
    names: chooseRows(only, withMillion),
    runs: options.runs ?? (options.quick ? 2 : 7),
  }))

function chooseRows(only: readonly RowName[], withMillion: boolean): RowName[] {
  const chosen = only.length > 0 ? only : ROW_NAMES.filter((name) => !OFF_BY_DEFAULT.includes(name))
  return withMillion && !chosen.includes('million') ? [...chosen, 'million'] : [...chosen]
}

/** Returns when, where and on what a row was measured. */
function describeRun({ tree, options }: Bench, loadBefore: string): string {
  const load = `load ${loadBefore} before and ${describeLoad()} after`
  const day = new Date().toISOString().slice(0, 10)
  return `${day}, ${describeMachine()}\\\ntree \`${basename(tree)}\`, ${options.runs} pairs, ${load}`
}

await runInstrument('bench', OPTIONS, async ({ names, ...options }) => {
  using workspace = openWorkspace('bench')
  print(`${describeMachine()}; load before ${describeLoad()}`)
  using bench = await openBench(options, workspace)
  print(`tree: ${bench.tree}; pairs: ${options.runs}`)
  const rows: ResultRow[] = []
  for (const name of names) {
    print(`running ${name} …`)
    const loadBefore = describeLoad()
    const found = await ROWS[name](bench)
    const table = renderResults(found)
    print(table)
    // After each row, so that a failure of a later one loses nothing.
    if (options.write) writeResults(name, [describeRun(bench, loadBefore), ...bench.takePictures(), table].join('\n\n'))
    rows.push(...found)
  }
  print(`\nall:\n${renderResults(rows)}\n\nload after ${describeLoad()}`)
  return true
})
