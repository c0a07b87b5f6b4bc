import type { Bench } from '../bench.ts'
import { compareInPairs } from '../pairs.ts'
import { isInstalled, RCLONE } from '../peers.ts'
import { missingPeer, type ResultRow } from '../result-table.ts'
import { runChild } from '../run-child.ts'
import { runProcess } from '../run-process.ts'
import { timeRow } from '../time-row.ts'

const WORK = 'first pass'
const CHILD = new URL('../children/observe-tree.ts', import.meta.url)

/** Walk, hash and record a tree that nothing is known of, beside those who only walk and hash. */
export async function firstPass(bench: Bench): Promise<ResultRow[]> {
  const { tree, options } = bench
  const ours = () => observeAnew(bench)
  const sha256sum = ['sh', '-c', 'find "$0" -type f -print0 | xargs -0 -P 2 -n 256 sha256sum', tree]
  // Pages may have left memory since the last run; disks are not what this compares.
  const fillCache = () => runProcess(['sh', '-c', 'find "$0" -type f -print0 | xargs -0 cat', tree], { quiet: true })
  const sum = () => runProcess(sha256sum, { quiet: true })
  const besideSums = await compareInPairs(options.runs, ours, sum, fillCache)
  const sums = timeRow(WORK, '2 × sha256sum', besideSums, undefined)
  if (!isInstalled('rclone')) return [missingPeer(WORK, 'rclone hashsum'), sums]
  const rclone = () => runProcess([...RCLONE, 'hashsum', 'sha256', tree], { quiet: true })
  const runs = Math.min(options.runs, 3)
  return [timeRow(WORK, 'rclone hashsum', await compareInPairs(runs, ours, rclone, fillCache), 0.25), sums]
}

function observeAnew({ tree, service, workspace }: Bench) {
  return runChild(CHILD, { tree, serviceUrl: service.url, stateDir: workspace.fresh('state'), transfers: 4 })
}
