import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { attachDaemon, isIdle, type RunningDaemon } from '../../support/daemon.ts'
import { runShelfd } from '../../support/run-shelfd.ts'
import { endWithUs } from '../soak/end-with-us.ts'
import type { Bench } from './bench.ts'
import { shelfdEnvironment } from './run-shelfd.ts'

/** A daemon of the compiled program that mirrors one tree into the null service. */
export interface BenchDaemon extends AsyncDisposable {
  readonly daemon: RunningDaemon
  readonly pid: number
}

/** What the files in service/ set beside paths. */
const OF_THE_UNITS = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '65536', MALLOC_TRIM_THRESHOLD_: '131072' }

const MAX_WAIT_MS = 900_000

/** A home directory whose daemon mirrors `tree` with the settings that it has by default, and with `more`. */
export function daemonHome({ workspace }: Bench, tree: string, more: object = {}): string {
  const home = workspace.fresh('daemon')
  const directory = join(home, 'config', 'shelfd')
  mkdirSync(directory, { recursive: true })
  writeFileSync(
    join(directory, 'config.yaml'),
    stringify({ mirrors: [{ path: tree, library: 'Bench', settle: '5s' }], ...more }),
  )
  return home
}

/** Starts the daemon of a home and waits until it has nothing left to do. */
export async function startBenchDaemon({ program, service }: Bench, home: string): Promise<BenchDaemon> {
  const env = { ...shelfdEnvironment(home, service.url), ...OF_THE_UNITS }
  const running = runShelfd(['daemon'], { main: program, env, cwd: home })
  await using starting = new AsyncDisposableStack()
  starting.use(endWithUs(running.child))
  const daemon = attachDaemon(running, join(home, 'state', 'shelfd'), MAX_WAIT_MS)
  const { pid } = await daemon.until('idle', isIdle)
  const parts = starting.move()
  return { daemon, pid, [Symbol.asyncDispose]: () => parts.disposeAsync() }
}
