import { findProgram } from '../../../support/programs.ts'
import { bareLoop } from '../bare-loop.ts'
import type { Bench } from '../bench.ts'
import { compareInPairs } from '../pairs.ts'
import { missingPeer, type ResultRow, timeRow } from '../result-table.ts'
import { RCLONE, runProcess } from '../run-process.ts'
import { shelfdEnvironment, syncCommand } from '../run-shelfd.ts'

const WORK = 'first pass'
const MOST = 1.8

/**
 * A dry run of a tree that nothing is known of: every file is hashed and recorded, then rolled back. Beside the bare loop and those who
 * only walk and hash; all as whole processes.
 */
export async function firstPass(bench: Bench): Promise<ResultRow[]> {
  const { tree, options, program, service, workspace } = bench
  const env = shelfdEnvironment(workspace.fresh('home'), service.url)
  const ours = () => runProcess([...syncCommand(program, tree), '--dry-run'], { env })
  const sha256sum = ['sh', '-c', 'find "$0" -type f -print0 | xargs -0 -P 2 -n 256 sha256sum', tree]
  // Pages may have left memory since the last run; disks are not what this compares.
  const fillCache = () => runProcess(['sh', '-c', 'find "$0" -type f -print0 | xargs -0 cat', tree], { quiet: true })
  const sum = () => runProcess(sha256sum, { quiet: true })
  const besideLoop = await compareInPairs(options.runs, ours, await bareLoop(bench, 'hash'), fillCache)
  const fewer = Math.min(options.runs, 3)
  const rows = [
    timeRow(WORK, 'bare loop', besideLoop, MOST),
    timeRow(WORK, '2 × sha256sum', await compareInPairs(fewer, ours, sum, fillCache), undefined),
  ]
  if (!findProgram('rclone')) return [...rows, missingPeer(WORK, 'rclone hashsum')]
  const rclone = () => runProcess([...RCLONE, 'hashsum', 'sha256', tree], { quiet: true })
  return [...rows, timeRow(WORK, 'rclone hashsum', await compareInPairs(fewer, ours, rclone, fillCache), undefined)]
}
