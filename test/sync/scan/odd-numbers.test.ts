/** Dates, inodes and sizes of disks that are beyond what a database can hold: they are problems of nothing, or of their own file. */
import { lstatSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { systemClock } from '../../../src/foundation/clock.ts'
import { type FileStats, type FileSystem, nodeFileSystem } from '../../../src/local/read/file-system.ts'
import { CAREFUL_PASS } from '../../../src/sync/pass.ts'
import { runSync } from '../../../src/sync/run/run-sync.ts'
import type { ScanBatch, StartWalk } from '../../../src/sync/scan/scan-batch.ts'
import { accountOf, mirrorOf, openTestEngine, startEngine } from '../../support/engine.ts'
import { startFaultyService } from '../../support/faulty-service.ts'
import { readLibrary } from '../../support/library-contents.ts'
import { temporaryDirectory, writeTree } from '../../support/temporary.ts'

/** The real file system with other numbers of what lies below a directory, and of the directory itself. */
function renumbered(root: string, change: (stats: FileStats) => Partial<FileStats>): FileSystem {
  const own = lstatSync(root, { bigint: true })
  const numbers = (stats: FileStats): FileStats => {
    const { dev, ino, mode, size, mtimeNs, ctimeNs } = stats
    return dev === own.dev ? { dev, ino, mode, size, mtimeNs, ctimeNs, birthtimeNs: 1n, ...change(stats) } : stats
  }
  return {
    ...nodeFileSystem,
    lstatSync: (path, options) => numbers(nodeFileSystem.lstatSync(path, options)),
    statSync: (path, options) => numbers(nodeFileSystem.statSync(path, options)),
    fstatSync: (descriptor, options) => numbers(nodeFileSystem.fstatSync(descriptor, options)),
  }
}

const YEAR_MS = 365 * 86_400_000
const LONG_AGO = 1_000_000_000_000_000_000n

describe('numbers beyond 64 bits with a sign', () => {
  test.each<[string, (stats: FileStats) => Partial<FileStats>]>([
    ['a file of 2300', () => ({ mtimeNs: 10_413_792_000_000_000_000n })],
    ['a file of the zero date of NTFS', () => ({ mtimeNs: -11_644_473_600_000_000_000n })],
    ['a disk whose every date is far', () => ({ mtimeNs: 2n ** 90n, ctimeNs: -(2n ** 90n), birthtimeNs: 2n ** 70n })],
    ['inodes of 2^63 and more', ({ ino }) => ({ ino: BigInt.asUintN(64, ino | (15n << 60n)) })],
    ['inodes below zero', ({ ino }) => ({ ino: BigInt.asIntN(64, ino | (15n << 60n)) })],
  ])('%s: the files are sent, and each is read once [F-FS-28, F-FS-29]', async (_, change) => {
    await using service = await startFaultyService()
    const root = writeTree(temporaryDirectory(), { 'a.md': 'A', 'sub/b.md': 'B' })
    const old = (stats: FileStats) => ({ mtimeNs: LONG_AGO, ctimeNs: LONG_AGO, ...change(stats) })
    await using tested = openTestEngine(service, { fs: renumbered(root, old) })
    const first = await tested.sync([mirrorOf(root)])
    expect(first).toMatchObject({ outcome: 'done', failure: undefined })
    writeTree(root, { 'c.md': 'C', 'sub/d.md': 'D' })
    const second = await tested.sync([mirrorOf(root)])
    expect(accountOf(second).files).toMatchObject({ unchanged: 2, hashed: 2, new: 2 })
    expect(accountOf(await tested.sync([mirrorOf(root)])).files).toMatchObject({ unchanged: 4, hashed: 0 })
    expect(readLibrary(service.dataDir)).toHaveLength(4)
  })
})

test('a file dated 2300 on a real disk is sent, and the mirrors after it are synced [F-FS-28]', async () => {
  const { service, tested, mirror } = await startEngine({ 'far.md': 'far', 'near.md': 'near' })
  const other = mirrorOf(writeTree(temporaryDirectory(), { 'other.md': 'other' }))
  utimesSync(join(mirror.path, 'far.md'), 10_413_792_000, 10_413_792_000)
  expect((await tested.sync([mirror, other])).outcome).toBe('done')
  expect(
    readLibrary(service.dataDir)
      .map(({ title }) => title)
      .sort(),
  ).toEqual(['far.md', 'near.md', 'other.md'])
})

test('a file dated in the future is read once, and is old enough for --min-age [F-FS-17]', async () => {
  await using service = await startFaultyService()
  const root = writeTree(temporaryDirectory(), { 'camera.md': 'camera' })
  const dates = { mtimeNs: BigInt(Date.now() + YEAR_MS) * 1_000_000n, ctimeNs: LONG_AGO }
  await using tested = openTestEngine(service, { fs: renumbered(root, () => dates) })
  const first = accountOf(await tested.sync([mirrorOf(root)], { minAgeMs: 60_000 }))
  expect(first).toMatchObject({ files: { tooNew: 0, hashed: 1 }, uploads: { created: 1 } })
  expect(accountOf(await tested.sync([mirrorOf(root)])).files).toMatchObject({ unchanged: 1, hashed: 0 })
})

test('a file dated in the future that was written this moment is read again [F-FS-17, F-FS-19]', async () => {
  await using service = await startFaultyService()
  const root = writeTree(temporaryDirectory(), { 'camera.md': 'camera' })
  const [nowMs, dates] = [2_000_000_000_000, { mtimeNs: 2n ** 61n, ctimeNs: 1_999_999_999_500_000_000n }]
  const clock = { ...systemClock, nowMs: () => nowMs }
  await using tested = openTestEngine(service, { clock, fs: renumbered(root, () => dates) })
  await tested.sync([mirrorOf(root)])
  expect(accountOf(await tested.sync([mirrorOf(root)])).files).toMatchObject({ unchanged: 1, hashed: 1 })
})

/** The engine's walk, in which the files of one name have a time that the database refuses. */
function withRefused(walk: StartWalk, refused: string): StartWalk {
  return (options, signal, onRead) => {
    const inner = walk(options, signal, onRead)
    return {
      async *[Symbol.asyncIterator]() {
        for await (const batch of inner) yield { ...batch, changes: batch.changes.flatMap(spoil) }
      },
      [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
    }
  }
  /** It comes in a change of its own, as the files of a large directory do. */
  function spoil(change: ScanBatch['changes'][number]): ScanBatch['changes'] {
    const bad = change.files.filter(({ name }) => name === refused).map((file) => ({ ...file, ctimeNs: 2n ** 80n }))
    const files = change.files.filter(({ name }) => name !== refused)
    return [
      { ...change, files: bad, missing: [], digest: null },
      { ...change, files },
    ]
  }
}

test('a row that the database refuses is a problem of its file, and the others are sent [F-FS-28]', async () => {
  const root = writeTree(temporaryDirectory(), { 'a.md': 'A', 'bad.md': 'B', 'c.md': 'C' })
  const fs = renumbered(root, () => ({ mtimeNs: LONG_AGO, ctimeNs: LONG_AGO }))
  const { service, tested, engine } = await startEngine({}, { fs })
  const mirror = mirrorOf(root)
  const spoiled = { ...engine, startWalk: withRefused(engine.startWalk, 'bad.md') }
  for (let run = 0; run < 2; run += 1) {
    const result = await runSync(spoiled, [mirror], { ...CAREFUL_PASS, waitMs: 100_000 })
    expect(result).toMatchObject({ outcome: 'failures', failure: undefined })
    expect(accountOf(result).problems).toMatchObject([{ path: 'bad.md', code: 'not-recorded' }])
    expect(readLibrary(service.dataDir).map(({ title }) => title)).toEqual(['a.md', 'c.md'])
  }
  expect((await tested.sync([mirror])).outcome).toBe('done')
  expect(readLibrary(service.dataDir)).toHaveLength(3)
})
