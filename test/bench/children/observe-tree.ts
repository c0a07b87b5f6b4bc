/** Measures the stage that walks, hashes and records a tree into a store that knows nothing yet. */
import { observe } from '../../../src/sync/observe/observe.ts'
import { openBenchEngine, printMeasure, readInput } from './bench-engine.ts'

await using opened = await openBenchEngine(readInput())
const { engine, mirror, summary } = opened
await printMeasure(async () => {
  await observe(engine, mirror, summary, { hashEverything: false, acceptsRemovals: false, settleMs: null })
  return summary.files.scanned
})
