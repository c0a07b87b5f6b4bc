import { closeSync, openSync, watch } from 'node:fs'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '../../support/temporary.ts'
import { readProcessUse } from './process-use.ts'

test.runIf(process.platform === 'linux')('descriptors and watches of a process are counted', () => {
  const directory = temporaryDirectory()
  using watching = new DisposableStack()
  // Node opens the one descriptor of all its watches with the first.
  watching.adopt(watch(temporaryDirectory()), (watcher) => watcher.close())
  const before = readProcessUse(process.pid)
  watching.adopt(watch(directory), (watcher) => watcher.close())
  watching.adopt(openSync(directory, 'r'), closeSync)
  const after = readProcessUse(process.pid)
  expect(after.descriptors).toBe(before.descriptors + 1)
  expect(after.watches).toBe(before.watches + 1)
  expect(after.cpuSeconds).toBeGreaterThanOrEqual(before.cpuSeconds)
  expect(after.residentBytes).toBeGreaterThan(after.anonymousBytes)
})
