/** `npm run simulate`: the whole program in simulated worlds, seed by seed; see docs/development/simulation.md. */
import { availableParallelism } from 'node:os'
import { z } from 'zod'
import { flag, print, runInstrument, wholeNumber } from '../instrument.ts'
import { type FleetScenario, listShorterFleets, makeFleet } from './fleet/fleet-scenario.ts'
import { listShorterProtocols, makeProtocol, type ProtocolScenario } from './protocol/protocol-scenario.ts'
import type { Cost } from './protocol/protocol-world.ts'
import { runProtocol } from './protocol/run-protocol.ts'
import type { Judgement } from './run-scenario.ts'
import { runSeeds } from './run-seeds.ts'
import { makeScenario, type Scenario } from './scenario.ts'
import { listShorterStories, shrink } from './shrink.ts'
import { Simulator, type WorldKind } from './simulator.ts'

const PROGRESS_MS = 15_000
/** The most failures that are printed, since one is fixed first as a rule. */
const MAX_FAILURES = 5

const OPTIONS = z.object({
  seeds: wholeNumber(1, Number.MAX_SAFE_INTEGER).default(1_000),
  from: wholeNumber(1, Number.MAX_SAFE_INTEGER).default(1).describe('the first seed'),
  jobs: wholeNumber(1, 1_000).default(availableParallelism()).describe('threads'),
  fleet: flag().describe('worlds of two to four hosts that share a ledger'),
  protocol: flag().describe('up to a thousand light hosts that share a ledger'),
  untilFailure: flag().describe('ends with the first seed that breaks a promise'),
  seed: wholeNumber(1, Number.MAX_SAFE_INTEGER).optional().describe('one seed alone, with its whole trace'),
})

type Options = z.infer<typeof OPTIONS>

function kindOf({ fleet, protocol }: Options): WorldKind {
  if (protocol) return 'protocol'
  return fleet ? 'fleet' : 'single'
}

/** Runs many seeds; true when all promises held. */
async function simulate(options: Options): Promise<boolean> {
  const { from, seeds, jobs, untilFailure } = options
  const kind = kindOf(options)
  const startMs = performance.now()
  let [done, twice, printedMs] = [0, 0, startMs]
  const failed: number[] = []
  const costs: Cost[] = []
  const rate = () => ((done / (performance.now() - startMs)) * 1_000).toFixed(kind === 'protocol' ? 1 : 0)
  for await (const { seed, failure, wasRunTwice, cost } of runSeeds({ from, seeds, jobs, kind })) {
    done += 1
    twice += Number(wasRunTwice)
    if (cost) costs.push(cost)
    if (failure) {
      print(`seed ${seed} broke ${failure.message}`)
      failed.push(seed)
      if (untilFailure || failed.length >= MAX_FAILURES) break
    }
    if (performance.now() - printedMs < PROGRESS_MS) continue
    printedMs = performance.now()
    print(`${done} of ${seeds} seeds, ${rate()} a second`)
  }
  const seconds = ((performance.now() - startMs) / 1_000).toFixed(0)
  if (costs.length > 0) print(describeCost(costs))
  print(
    `${done} seeds from ${from} in ${seconds} s (${rate()} a second), ${twice} of them twice: ${failed.length} failed`,
  )
  const [first] = failed
  if (first !== undefined && !untilFailure) await replay(first, kind)
  return failed.length === 0
}

function describeCost(costs: readonly Cost[]): string {
  const sum = (of: keyof Cost) => costs.reduce((all, cost) => all + cost[of], 0)
  const [contents, wanted] = [sum('contents'), sum('wanted')]
  const each = (count: number, of: number) => (count / of).toFixed(2)
  return `${sum('hosts')} hosts had ${wanted} files of ${contents} contents: ${each(sum('calls'), wanted)} calls of the ledger and ${each(sum('rows'), wanted)} rows for each file`
}

/** Runs one seed, and prints the trace of the shortest scenario that breaks the same promise. */
async function replay(seed: number, kind: WorldKind): Promise<boolean> {
  using simulator = new Simulator()
  if (kind === 'protocol') {
    return await explain(seed, '--protocol ', makeProtocol(seed), {
      run: runProtocol,
      listShorter: listShorterProtocols,
      describe: describeFleet,
    })
  }
  if (kind === 'fleet') {
    const run = (scenario: FleetScenario) => simulator.runFleet(scenario)
    return await explain(seed, '--fleet ', makeFleet(seed), {
      run,
      listShorter: listShorterFleets,
      describe: describeFleet,
    })
  }
  const run = (scenario: Scenario) => simulator.run(scenario)
  return await explain(seed, '', makeScenario(seed), { run, listShorter: listShorterStories, describe })
}

interface Means<T> {
  run(scenario: T): Promise<Judgement>
  listShorter(scenario: T): Iterable<T>
  describe(scenario: T): string
}

async function explain<T>(seed: number, option: string, scenario: T, means: Means<T>): Promise<boolean> {
  const { violation, trace } = await means.run(scenario)
  if (!violation) {
    print(`${trace.join('\n')}\nseed ${seed}: every promise held`)
    return true
  }
  const shortest = await shrink(scenario, violation.promise, means)
  const judged = await means.run(shortest)
  print(`${means.describe(shortest)}\n${judged.trace.join('\n')}\nseed ${seed} broke ${judged.violation?.message}`)
  print(`the same again: npm run simulate -- ${option}--seed ${seed}`)
  return false
}

function describe({ traits, phases, calmWatch }: Scenario): string {
  const lines = [JSON.stringify(traits), ...phases.map((phase) => JSON.stringify(phase))]
  return [...lines, ...(calmWatch ? [JSON.stringify({ calmWatch })] : [])].join('\n')
}

function describeFleet({ hosts, ...traits }: FleetScenario | ProtocolScenario): string {
  return [traits, ...hosts].map((line) => JSON.stringify(line)).join('\n')
}

await runInstrument('simulate', OPTIONS, (options) =>
  options.seed === undefined ? simulate(options) : replay(options.seed, kindOf(options)),
)
