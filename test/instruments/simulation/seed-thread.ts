/** Thread entry: runs the seeds that it is sent, and posts the outcome of each. */
import { parentPort } from 'node:worker_threads'
import type { Cost } from './protocol/protocol-world.ts'
import { Simulator, type WorldKind } from './simulator.ts'

export interface SeedResult {
  readonly seed: number
  /** What was broken; null: nothing. */
  readonly failure: { readonly promise: string; readonly message: string } | null
  readonly wasRunTwice: boolean
  /** Of protocol seeds. */
  readonly cost: Cost | undefined
}

/** One seed in this number runs twice: the same seed must do the same things. */
const TWICE_EVERY = 100

// Simulated programs throw errors all the time; to read their stacks, run the one seed again.
Error.stackTraceLimit = 0

const simulator = new Simulator()

/** Null: nothing is left to do. */
export type SeedTask = { readonly seed: number; readonly kind: WorldKind } | null

parentPort?.on('message', (task: SeedTask) => {
  if (task === null) {
    simulator[Symbol.dispose]()
    parentPort?.close()
  } else void run(task).then((result) => parentPort?.postMessage(result))
})

async function run({ seed, kind }: NonNullable<SeedTask>): Promise<SeedResult> {
  const { violation, trace, cost } = await simulator.runSeed(seed, kind)
  const failure = violation ? { promise: violation.promise, message: violation.message } : null
  const wasRunTwice = seed % TWICE_EVERY === 0
  if (failure || !wasRunTwice) return { seed, failure, wasRunTwice, cost }
  const again = await simulator.runSeed(seed, kind)
  const at = trace.findIndex((line, index) => line !== again.trace[index])
  if (at < 0 && trace.length === again.trace.length) return { seed, failure, wasRunTwice, cost }
  const message = `the second run differs at its step ${at}: "${again.trace[at]}" instead of "${trace[at]}"`
  return { seed, failure: { promise: 'same seed, same run', message }, wasRunTwice, cost }
}
