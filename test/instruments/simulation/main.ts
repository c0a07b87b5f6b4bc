/** `npm run simulate`: the whole program in simulated worlds, seed by seed; see docs/development/simulation.md. */
import { availableParallelism } from 'node:os'
import { z } from 'zod'
import { flag, print, runInstrument, wholeNumber } from '../instrument.ts'
import { runSeeds } from './run-seeds.ts'
import { makeScenario, type Scenario } from './scenario.ts'
import { shrink } from './shrink.ts'
import { Simulator } from './simulator.ts'

const PROGRESS_MS = 15_000
/** The most failures that are printed, since one is fixed first as a rule. */
const MOST_FAILURES = 5

const OPTIONS = z.object({
  seeds: wholeNumber(1, Number.MAX_SAFE_INTEGER).default(1_000),
  from: wholeNumber(1, Number.MAX_SAFE_INTEGER).default(1).describe('the first seed'),
  jobs: wholeNumber(1, 1_000).default(availableParallelism()).describe('threads'),
  untilFailure: flag().describe('ends with the first seed that breaks a promise'),
  seed: wholeNumber(1, Number.MAX_SAFE_INTEGER).optional().describe('one seed alone, with its whole trace'),
})

/** Runs many seeds; true when all promises held. */
async function simulate({ from, seeds, jobs, untilFailure }: z.infer<typeof OPTIONS>): Promise<boolean> {
  const startMs = performance.now()
  let [done, twice, printedMs] = [0, 0, startMs]
  const failed: number[] = []
  const rate = () => (done / (performance.now() - startMs)) * 1_000
  for await (const { seed, failure, wasRunTwice } of runSeeds({ from, seeds, jobs })) {
    done += 1
    twice += Number(wasRunTwice)
    if (failure) {
      print(`seed ${seed} broke ${failure.message}`)
      failed.push(seed)
      if (untilFailure || failed.length >= MOST_FAILURES) break
    }
    if (performance.now() - printedMs < PROGRESS_MS) continue
    printedMs = performance.now()
    print(`${done} of ${seeds} seeds, ${rate().toFixed(0)} a second`)
  }
  const seconds = ((performance.now() - startMs) / 1_000).toFixed(0)
  print(
    `${done} seeds from ${from} in ${seconds} s (${rate().toFixed(0)} a second), ${twice} of them twice: ${failed.length} failed`,
  )
  const [first] = failed
  if (first !== undefined && !untilFailure) await replay(first)
  return failed.length === 0
}

/** Runs one seed, and prints the trace of the shortest scenario that breaks the same promise. */
async function replay(seed: number): Promise<boolean> {
  using simulator = new Simulator()
  const scenario = makeScenario(seed)
  const { violation, trace } = await simulator.run(scenario)
  if (!violation) {
    print(`${trace.join('\n')}\nseed ${seed}: every promise held`)
    return true
  }
  const shortest = await shrink(simulator, scenario, violation.promise)
  const judged = await simulator.run(shortest)
  print(`${describe(shortest)}\n${judged.trace.join('\n')}\nseed ${seed} broke ${judged.violation?.message}`)
  print(`the same again: npm run simulate -- --seed ${seed}`)
  return false
}

function describe({ traits, linksCopies, phases, calmWatch }: Scenario): string {
  const lines = [JSON.stringify({ ...traits, linksCopies }), ...phases.map((phase) => JSON.stringify(phase))]
  return [...lines, ...(calmWatch ? [JSON.stringify({ calmWatch })] : [])].join('\n')
}

await runInstrument('simulate', OPTIONS, (options) =>
  options.seed === undefined ? simulate(options) : replay(options.seed),
)
