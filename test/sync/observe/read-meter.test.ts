import { openSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../../src/foundation/clock.ts'
import { nodeFileSystem } from '../../../src/local/read/file-system.ts'
import { type ReadAmount, ReadMeter } from '../../../src/sync/observe/read-meter.ts'
import { accountOf, mirrorOf, openTestEngine } from '../../support/engine.ts'
import { startFaultyService } from '../../support/faulty-service.ts'
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

test('what threads report adds up to what they found and read', async () => {
  const names = Array.from({ length: 700 }, (_, index) => `${index % 7}/file-${index}.md`)
  const root = writeTree(temporaryDirectory(), Object.fromEntries(names.map((name) => [name, 'pelican'])))
  await using service = await startFaultyService()
  await using tested = openTestEngine(service, { inThreads: true })
  const { progress } = tested.engine
  for (const bytesHashed of [700 * 7, 0]) {
    Object.assign(progress, { filesScanned: 0, bytesHashed: 0, filesHashed: 0 })
    expect(accountOf(await tested.sync([mirrorOf(root)])).files).toMatchObject({ scanned: 700 })
    // Files that are too new for their hash to be proof are read again.
    expect(progress.filesScanned).toBe(700)
    expect(progress.bytesHashed).toBe(progress.filesHashed * 7)
    expect(progress.bytesHashed).toBeGreaterThanOrEqual(bytesHashed)
  }
})
