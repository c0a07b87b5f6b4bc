import { openSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../../src/foundation/clock.ts'
import { nodeFileSystem } from '../../../src/local/read/file-system.ts'
import { type ReadAmount, ReadMeter } from '../../../src/local/read/read-meter.ts'
import { temporaryDirectory, writeTree } from '../../support/temporary.ts'

test('a thread reports what it reads at intervals, and the rest at its end', () => {
  const reported: ReadAmount[] = []
  let nowMs = 0
  const clock = { ...systemClock, monotonicMs: () => nowMs }
  const meter = new ReadMeter(nodeFileSystem, clock, (amount) => reported.push(amount))
  const root = writeTree(temporaryDirectory(), { 'a.md': 'pelican' })
  const descriptor = openSync(join(root, 'a.md'), 'r')
  const read = (length: number) => meter.fs.readSync(descriptor, new Uint8Array(8), 0, length, 0)
  for (let index = 0; index < 1_000; index += 1) meter.countFile()
  expect([read(4), reported]).toEqual([4, []])
  nowMs = 250
  expect([read(8), reported]).toEqual([7, [{ files: 1_000, bytes: 11 }]])
  meter.countFile()
  nowMs = 300
  meter.countFile()
  expect(reported).toHaveLength(1)
  meter.flush()
  meter.flush()
  expect(reported.slice(1)).toEqual([{ files: 2, bytes: 0 }])
  meter.fs.closeSync(descriptor)
})
