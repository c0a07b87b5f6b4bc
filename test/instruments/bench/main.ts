/** `npm run bench`: how fast shelfd is, beside others on the same work in the same run; see docs/development/benchmarks.md. */
import { basename } from 'node:path'
import { type Bench, openBench } from './bench.ts'
import { type BenchOptions, readOptions } from './options.ts'
import { describeLoad, describeMachine, type ResultRow, renderResults } from './result-table.ts'
import { writeResults } from './results-page.ts'
import { daemon } from './rows/daemon.ts'
import { firstPass } from './rows/first-pass.ts'
import { largeLibrary } from './rows/large-library.ts'
import { latency } from './rows/latency.ts'
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
  library,
  'large-library': largeLibrary,
  million,
} satisfies Record<string, (bench: Bench) => Promise<ResultRow[]>>

type RowName = keyof typeof ROWS

const OFF_BY_DEFAULT: readonly RowName[] = ['million', 'large-library']

function isRow(name: string): name is RowName {
  return Object.hasOwn(ROWS, name)
}

function chooseRows({ only, million: withMillion }: BenchOptions): RowName[] {
  const all = Object.keys(ROWS).filter(isRow)
  const unknown = only.find((name) => !isRow(name))
  if (unknown !== undefined) throw new Error(`--only "${unknown}" must be one of ${all.join(', ')}`)
  const byDefault = all.filter((name) => !OFF_BY_DEFAULT.includes(name))
  const chosen = only.length > 0 ? only.filter(isRow) : byDefault
  return withMillion && !chosen.includes('million') ? [...chosen, 'million'] : chosen
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** Returns when, where and on what a row was measured. */
function describeRun({ tree, options }: Bench, loadBefore: string): string {
  const load = `load ${loadBefore} before and ${describeLoad()} after`
  const day = new Date().toISOString().slice(0, 10)
  return `${day}, ${describeMachine()}\\\ntree \`${basename(tree)}\`, ${options.runs} pairs, ${load}`
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2))
  const names = chooseRows(options)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
  using workspace = openWorkspace('bench')
  print(`${describeMachine()}; load before ${describeLoad()}`)
  using bench = await openBench(options, workspace, print)
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
}

try {
  await main()
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
