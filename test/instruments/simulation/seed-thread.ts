/** Thread entry: runs the seeds that it is sent, and posts the outcome of each. */
import { parentPort } from 'node:worker_threads'
import { makeFleet } from './fleet/fleet-scenario.ts'
import { Simulator } from './simulator.ts'

export interface SeedResult {
  readonly seed: number
  /** What was broken; null: nothing. */
  readonly failure: { readonly promise: string; readonly message: string } | null
  readonly wasRunTwice: boolean
}

/** One seed in this number runs twice: the same seed must do the same things. */
const TWICE_EVERY = 100

// Simulated programs throw errors all the time; to read their stacks, run the one seed again.
Error.stackTraceLimit = 0

const simulator = new Simulator()

/** Null: nothing is left to do. */
export type SeedTask = { readonly seed: number; readonly isFleet: boolean } | null

parentPort?.on('message', (task: SeedTask) => {
  if (task === null) {
    simulator[Symbol.dispose]()
    parentPort?.close()
  } else void run(task).then((result) => parentPort?.postMessage(result))
})

async function run({ seed, isFleet }: NonNullable<SeedTask>): Promise<SeedResult> {
  const runOnce = () => (isFleet ? simulator.runFleet(makeFleet(seed)) : simulator.runSeed(seed))
  const { violation, trace } = await runOnce()
  const failure = violation ? { promise: violation.promise, message: violation.message } : null
  const wasRunTwice = seed % TWICE_EVERY === 0
  if (failure || !wasRunTwice) return { seed, failure, wasRunTwice }
  const again = await runOnce()
  const at = trace.findIndex((line, index) => line !== again.trace[index])
  if (at < 0 && trace.length === again.trace.length) return { seed, failure, wasRunTwice }
  const message = `the second run differs at its step ${at}: "${again.trace[at]}" instead of "${trace[at]}"`
  return { seed, failure: { promise: 'same seed, same run', message }, wasRunTwice }
}
