import type { Bench } from '../bench.ts'
import type { WatchInput, WatchMeasure, WatchWay } from '../children/watch-whole-tree.ts'
import { compileModule } from '../compiled-module.ts'
import { compareInPairs, median } from '../pairs.ts'
import { type ResultRow, resultRow, showMegabytes, showRatio, timeRow } from '../result-table.ts'
import { runChild } from '../run-process.ts'

const CHILD = new URL('../children/watch-whole-tree.ts', import.meta.url)
const WATCHER = new URL('../../../../src/local/watch/open-tree-watcher.ts', import.meta.url)

/**
 * From nothing to a tree that is watched, each time in a process of its own. Where directories must be named, a bare walk lists
 * them first, or before the measure begins: the program's scan knows them anyway.
 */
export async function watching(bench: Bench): Promise<ResultRow[]> {
  const pairs: readonly (readonly [ours: WatchWay, theirs: WatchWay])[] = [
    ['node', 'bare chokidar'],
    ['node, directories known', 'bare chokidar'],
    ['chokidar', 'bare chokidar'],
  ]
  const rows: ResultRow[] = []
  for (const [ours, theirs] of pairs) rows.push(...(await compareWays(bench, ours, theirs)))
  return rows
}

async function compareWays({ tree, options, program }: Bench, ours: WatchWay, theirs: WatchWay): Promise<ResultRow[]> {
  const module = await compileModule(program, WATCHER)
  const our = new Side({ tree, way: ours, module })
  const their = new Side({ tree, way: theirs, module })
  const compared = await compareInPairs(options.runs, our.run, their.run)
  const work = `begin watching, ${ours}`
  const [ourBytes, theirBytes] = [our.grownBytes(), their.grownBytes()]
  const memory = resultRow({
    work: `${work}: memory it adds`,
    ours: showMegabytes(ourBytes),
    peer: theirs,
    theirs: showMegabytes(theirBytes),
    ratio: showRatio(ourBytes / theirBytes),
  })
  return [timeRow(work, theirs, compared, undefined), memory]
}

/** Runs one way again and again and keeps what it measured. */
class Side {
  readonly #input: WatchInput
  readonly #measures: WatchMeasure[] = []

  constructor(input: WatchInput) {
    this.#input = input
  }

  readonly run = async (): Promise<WatchMeasure> => {
    const measure = await runChild<WatchMeasure>(CHILD, this.#input)
    this.#measures.push(measure)
    return measure
  }

  grownBytes(): number {
    return median(this.#measures.map(({ grownBytes }) => grownBytes))
  }
}
