import { once } from 'node:events'
import { readdirSync, truncateSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { prepareThread, walkByThreads } from '../../../src/sync/scan/walk-by-checkers.ts'
import { temporaryDirectory, writeTree } from '../../support/temporary.ts'
import { walkOptions } from './walk-options.ts'

function countThreads(): number {
  return readdirSync('/proc/self/task').length
}

/** Walks a small tree; returns its file names, and the threads of the process after the walk's start. */
async function walkTree(threads: number): Promise<{ names: string[]; threads: number }> {
  const root = writeTree(temporaryDirectory(), { 'a.md': 'a', 'b/c.md': 'c' })
  await using walk = walkByThreads(threads)(walkOptions(root), new AbortController().signal)
  const started = countThreads()
  const names: string[] = []
  for await (const { changes } of walk) names.push(...changes.flatMap(({ files }) => files.map(({ name }) => name)))
  return { names: names.sort(), threads: started }
}

test.runIf(process.platform === 'linux')(
  'a walk takes no more threads than the machine has room for [S-25]',
  async () => {
    const before = countThreads()
    const { names, threads } = await walkTree(4 * availableParallelism() + 40)
    const most = threads - before
    expect(names).toEqual(['a.md', 'c.md'])
    expect(most).toBeGreaterThan(0)
    expect(most).toBeLessThanOrEqual(4 * availableParallelism())
  },
)

test.runIf(process.platform === 'linux')('a thread that was started early walks instead of a new one', async () => {
  prepareThread()
  const before = countThreads()
  expect(await walkTree(1)).toEqual({ names: ['a.md', 'c.md'], threads: before })
  expect((await walkTree(1)).names, 'the next walk starts its own').toEqual(['a.md', 'c.md'])
})

test('a walk that is broken off in the middle of a file ends its threads in order [F-PR-19]', async () => {
  const root = writeTree(temporaryDirectory(), { 'large.bin': '' })
  // Hashing it would take a minute.
  truncateSync(join(root, 'large.bin'), 30 * 2 ** 30)
  const exits: Promise<unknown[]>[] = []
  const onWorker = (worker: Worker) => void exits.push(once(worker, 'exit'))
  process.on('worker', onWorker)
  onTestFinished(() => void process.off('worker', onWorker))
  const stop = new AbortController()
  const walk = walkByThreads(2)(walkOptions(root), stop.signal, () => stop.abort(new Error('stopped')))
  await expect(walk[Symbol.asyncIterator]().next()).rejects.toThrow('stopped')
  await walk[Symbol.asyncDispose]()
  expect(await Promise.all(exits)).toEqual([[0], [0]])
})
