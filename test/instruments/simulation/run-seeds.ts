import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { SeedResult, SeedTask } from './seed-thread.ts'
import type { WorldKind } from './simulator.ts'

interface Seeds {
  readonly from: number
  readonly seeds: number
  /** Threads. */
  readonly jobs: number
  readonly kind?: WorldKind
}

/** Runs seeds in threads, and gives the results as they come. */
export async function* runSeeds({ from, seeds, jobs, kind = 'single' }: Seeds): AsyncGenerator<SeedResult> {
  let next = from
  const end = from + seeds
  const results: SeedResult[] = []
  let wake = () => {}
  let failure: { readonly error: unknown } | undefined
  const workers = Array.from(
    { length: Math.min(jobs, seeds) },
    () => new Worker(new URL('./seed-thread.ts', import.meta.url)),
  )
  const feed = (worker: Worker) => {
    const task: SeedTask = next < end ? { seed: next, kind } : null
    worker.postMessage(task)
    next += 1
  }
  for (const worker of workers) {
    worker.on('message', (result: SeedResult) => {
      results.push(result)
      feed(worker)
      wake()
    })
    worker.on('error', (error) => {
      failure = { error }
      wake()
    })
    feed(worker)
  }
  const ended = Promise.all(workers.map((worker) => once(worker, 'exit')))
  try {
    for (let given = 0; given < seeds; ) {
      if (failure) throw failure.error
      const result = results.shift()
      if (result) {
        given += 1
        yield result
      } else await new Promise<void>((resolve) => (wake = resolve))
    }
    await ended
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()))
  }
}

/** Runs seeds, and returns what was broken, each with the command that repeats it. */
export async function listFailures(kind: WorldKind, seeds: number, jobs = 2, from = 1): Promise<string[]> {
  const failures: string[] = []
  for await (const { seed, failure } of runSeeds({ from, seeds, jobs, kind })) {
    const option = kind === 'single' ? '' : `--${kind} `
    if (failure) failures.push(`seed ${seed} broke ${failure.message}; npm run simulate -- ${option}--seed ${seed}`)
  }
  return failures
}
