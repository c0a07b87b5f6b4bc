import { setTimeout as sleep } from 'node:timers/promises'
import { readProcessUse } from '../../soak/process-use.ts'
import type { Bench } from '../bench.ts'
import { daemonHome, startBenchDaemon } from '../bench-daemon.ts'
import { type ResultRow, resultRow, showMegabytes, verdict } from '../result-table.ts'

const MAX_BYTES = 115e6
const MAX_IDLE_SHARE = 0.005
const IDLE_MS = 60_000
/** Two beats of the daemon: with the first one it gives memory back, which takes processor time once. */
const SETTLING_MS = 30_000

/**
 * The whole daemon on the tree, when it has nothing to do any more: after it mirrored everything, and after a restart. It has the
 * environment that its systemd units give it.
 */
export async function daemon(bench: Bench): Promise<ResultRow[]> {
  const home = daemonHome(bench, bench.tree)
  const first = await useAtRest(bench, home)
  const restarted = await useAtRest(bench, home)
  return [...rowsOf('after its first pass', first), ...rowsOf('restarted', restarted)]
}

interface UseAtRest {
  readonly residentBytes: number
  /** Processor time by time. */
  readonly idleShare: number
}

async function useAtRest(bench: Bench, home: string): Promise<UseAtRest> {
  await using daemon = await startBenchDaemon(bench, home)
  await sleep(SETTLING_MS)
  const before = readProcessUse(daemon.pid)
  const startMs = performance.now()
  await sleep(IDLE_MS)
  const after = readProcessUse(daemon.pid)
  const seconds = (performance.now() - startMs) / 1_000
  return { residentBytes: after.residentBytes, idleShare: (after.cpuSeconds - before.cpuSeconds) / seconds }
}

function rowsOf(when: string, { residentBytes, idleShare }: UseAtRest): ResultRow[] {
  return [
    resultRow({
      work: `idle daemon ${when}: resident memory`,
      ours: showMegabytes(residentBytes),
      target: `≤ ${showMegabytes(MAX_BYTES)}`,
      verdict: verdict(residentBytes <= MAX_BYTES),
    }),
    resultRow({
      work: `idle daemon ${when}: processor`,
      ours: showPercent(idleShare),
      target: `< ${showPercent(MAX_IDLE_SHARE)}`,
      verdict: verdict(idleShare < MAX_IDLE_SHARE),
    }),
  ]
}

function showPercent(share: number): string {
  return `${(share * 100).toFixed(2)} %`
}
