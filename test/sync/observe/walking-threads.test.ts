import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { expect, test } from 'vitest'
import { observeInThreads } from '../../../src/sync/observe/observe-in-threads.ts'
import { temporaryDirectory, writeTree } from '../../support/temporary.ts'
import { walkOptions } from './walk-options.ts'

function countThreads(): number {
  return readdirSync('/proc/self/task').length
}

test.runIf(process.platform === 'linux')('a walk takes no more threads than the machine has room for', async () => {
  const root = writeTree(temporaryDirectory(), { 'a.md': 'a', 'b/c.md': 'c' })
  const before = countThreads()
  const walk = observeInThreads(4 * availableParallelism() + 40)(walkOptions(root), new AbortController().signal)
  const most = countThreads() - before
  const names: string[] = []
  for await (const { observations } of walk)
    names.push(...observations.flatMap(({ files }) => files.map(({ name }) => name)))
  await walk[Symbol.asyncDispose]()
  expect(names.sort()).toEqual(['a.md', 'c.md'])
  expect(most).toBeGreaterThan(0)
  expect(most).toBeLessThanOrEqual(4 * availableParallelism())
})
