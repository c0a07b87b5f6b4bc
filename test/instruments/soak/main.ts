/** `npm run soak`: whether the daemon stays as small as it was while its mirrors change; see docs/development/benchmarks.md. */
import type { DaemonStatus } from '../../../src/sync/continuous/controller-status.ts'
import { isIdle } from '../../support/daemon.ts'
import { openWorkspace } from '../bench/workspace.ts'
import { describeLoad, describeMachine, print, runInstrument, stopSignal } from '../instrument.ts'
import { compareSides } from './compare.ts'
import { isFlat, renderProgress, renderResult } from './render.ts'
import { type Sample, takeSamples } from './sample.ts'
import { churnTrees, openSoak, SOAK_OPTIONS, type Soak, type SoakOptions } from './soak.ts'

const SAMPLES_PER_PROGRESS = 24

async function soak(options: SoakOptions): Promise<boolean> {
  if (process.platform !== 'linux') throw new Error('Only Linux reports what a process holds: run it there')
  const signal = stopSignal()
  using workspace = openWorkspace('soak')
  print(`${describeMachine()}; load before ${describeLoad()}`)
  await using opened = await openSoak(options, workspace)
  await waitUntilSettled(opened, signal)
  const { minutes, files, changesPerSecond, seed } = options
  print(
    `${minutes} minutes, ${files} files in ${opened.trees.length} mirrors, ${changesPerSecond} changes/s, seed ${seed}`,
  )
  const samples: Sample[] = []
  try {
    await churnAndSample(opened, { options, signal, samples })
  } finally {
    print(renderResult(samples))
    print(`load after ${describeLoad()}`)
  }
  signal.throwIfAborted()
  return (await compare(opened, signal)) && isFlat(samples)
}

interface Churning {
  readonly options: SoakOptions
  readonly signal: AbortSignal
  /** Receives each new sample. */
  readonly samples: Sample[]
}

async function churnAndSample(soak: Soak, { options, signal, samples }: Churning): Promise<void> {
  const ended = new AbortController()
  const stop = () => ended.abort()
  void soak.daemon.ended.then(stop)
  const over = AbortSignal.any([signal, ended.signal, AbortSignal.timeout(options.minutes * 60_000)])
  const churning = churnTrees(soak.trees, options, over).finally(stop)
  try {
    for await (const sample of takeSamples(soak, over)) {
      samples.push(sample)
      if (samples.length % SAMPLES_PER_PROGRESS === 0) print(renderProgress(sample))
      if (sample.halted > 0) stop()
    }
  } finally {
    stop()
    await churning
  }
}

/** Waits twice until nothing is left to do: the last changes may cause work later. */
async function waitUntilSettled({ daemon, trees }: Soak, signal: AbortSignal): Promise<void> {
  for (let round = 0; round < 2; round += 1) {
    const { mirrors } = await daemon.until('all is settled', (now) => signal.aborted || isIdle(now) || isHalted(now))
    signal.throwIfAborted()
    const halted = mirrors.find(({ state }) => state === 'halted')
    if (halted) throw new Error(halted.reason?.message ?? `${halted.name} is halted`)
    for (const { churner } of trees) churner.settle()
  }
}

function isHalted({ mirrors }: DaemonStatus): boolean {
  return mirrors.some(({ state }) => state === 'halted')
}

async function compare(soak: Soak, signal: AbortSignal): Promise<boolean> {
  await waitUntilSettled(soak, signal)
  const { resources, complaints } = await compareSides(soak)
  const log = soak.daemon.log()
  print(`log: ${log.split('\n').length - 1} lines`)
  if (complaints.length === 0) print(`compared: ${resources} resources, exactly what settled, each sent once`)
  else print(`compared: ${complaints.join('; ')}\n${log}`)
  return complaints.length === 0
}

await runInstrument('soak', SOAK_OPTIONS, soak)
