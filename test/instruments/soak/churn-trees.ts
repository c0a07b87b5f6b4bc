import { setTimeout as sleep } from 'node:timers/promises'
import type { ChurnedTree } from '../../support/churn.ts'
import { DIRECTORIES_PER_FILE, type SoakOptions } from './options.ts'

/** Changes one tree after the other, evenly in time, until `signal` is aborted. No tree grows beyond its share of the files. */
export async function churnTrees(
  trees: readonly ChurnedTree[],
  { files, changesPerSecond }: SoakOptions,
  signal: AbortSignal,
): Promise<void> {
  const mostFiles = Math.floor(files / trees.length)
  const mostDirectories = Math.ceil(mostFiles * DIRECTORIES_PER_FILE)
  const startMs = performance.now()
  for (let turn = 0; !signal.aborted; turn += 1) {
    const churner = trees[turn % trees.length]?.churner
    churner?.step()
    churner?.trim(mostFiles, mostDirectories)
    const changes = trees.reduce((sum, tree) => sum + tree.churner.changes, 0)
    const dueMs = startMs + (changes / changesPerSecond) * 1_000
    await sleep(Math.max(0, dueMs - performance.now()), undefined, { signal }).catch(() => {})
  }
}
