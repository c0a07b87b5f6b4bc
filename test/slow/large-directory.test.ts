import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/foundation/clock.ts'
import type { ScanBatch } from '../../src/sync/scan/scan-batch.ts'
import { accountOf, mirrorOf, startEngine } from '../support/engine.ts'
import { temporaryDirectory, writeTree } from '../support/temporary.ts'

const COUNT = 5_000
/** A clock by which no file is too new for its hash to be proof. */
const later = { ...systemClock, nowMs: () => systemClock.nowMs() + 60_000 }

test('a directory of many files is observed in portions [P21]', async () => {
  const names = Array.from({ length: COUNT }, (_, index) => `file-${index}.md`)
  const root = writeTree(temporaryDirectory(), Object.fromEntries(names.map((name) => [name, 'the same'])))
  const mirror = mirrorOf(root)
  const { tested } = await startEngine({}, { clock: later })
  const { engine } = tested
  const sizes: number[] = []
  const scanMirror = engine.startWalk
  const watched: typeof scanMirror = (options, signal) => {
    const walk = scanMirror(options, signal)
    return {
      async *[Symbol.asyncIterator](): AsyncGenerator<ScanBatch> {
        for await (const batch of walk) {
          sizes.push(batch.changes.reduce((sum, { files }) => sum + files.length, 0))
          yield batch
        }
      },
      [Symbol.asyncDispose]: () => walk[Symbol.asyncDispose](),
    }
  }
  Object.assign(engine, { startWalk: watched })

  const first = accountOf(await tested.sync([mirror]))
  expect(first.files).toMatchObject({ scanned: COUNT, new: COUNT, hashed: COUNT })
  expect(first.uploads).toMatchObject({ created: 1, aliases: COUNT - 1 })
  expect(sizes).toEqual([4_096, 904, 0])

  const second = accountOf(await tested.sync([mirror]))
  expect(second.files).toMatchObject({ scanned: COUNT, unchanged: COUNT, hashed: 0 })
  expect(tested.store.directories.findDigest(1, '')).not.toBeNull()

  writeFileSync(join(root, 'file-8.md'), 'another')
  rmSync(join(root, 'file-4500.md'))
  const third = accountOf(await tested.sync([mirror]))
  expect(third.files).toMatchObject({ scanned: COUNT - 1, unchanged: COUNT - 2, changed: 1, removed: 1, hashed: 1 })
  expect(tested.store.directories.findDigest(1, '')).not.toBeNull()
  expect(accountOf(await tested.sync([mirror])).files).toMatchObject({ unchanged: COUNT - 1, hashed: 0 })

  for (const name of names.slice(0, 4_200)) writeFileSync(join(root, `a-new-${name}`), 'the same')
  const { rows } = await tested.report([mirror])
  const fresh = rows.filter(({ entry }) => entry.path?.startsWith('a-new-'))
  expect(fresh).toHaveLength(4_200)
})

test('what threads report adds up to what they found and read', async () => {
  const names = Array.from({ length: 700 }, (_, index) => `${index % 7}/file-${index}.md`)
  const root = writeTree(temporaryDirectory(), Object.fromEntries(names.map((name) => [name, 'pelican'])))
  const { tested } = await startEngine({}, { inThreads: true })
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
