/** Odd files, disks and times: what is sent, what is reported, and what stays unchanged. */
import {
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { systemClock } from '../../../src/foundation/clock.ts'
import { type LogFields, silentLogger } from '../../../src/foundation/logger.ts'
import { type FileSystem, nodeFileSystem } from '../../../src/local/read/file-system.ts'
import type { ServiceClient } from '../../../src/remote/service-client.ts'
import { dumpStore } from '../../support/dump-store.ts'
import { accountOf, mirrorOf, openTestEngine, startEngine } from '../../support/engine.ts'
import { startFaultyService } from '../../support/faulty-service.ts'
import { readLibrary } from '../../support/library-contents.ts'
import { mountSmallDisk } from '../../support/mounted-disk.ts'
import { temporaryDirectory, writeTree } from '../../support/temporary.ts'

/** The real file system, in which every opening or reading of the files of one name fails as long as `code` is set. */
function failingDisk(name: string) {
  const disk = { code: undefined as string | undefined, opened: undefined as number | undefined }
  const failure = () => Object.assign(new Error(`${disk.code}: thrown by the test`), { code: disk.code })
  const isHit = (code: string) => disk.code !== undefined && (code === 'EIO') === (disk.code === 'EIO')
  const fs: FileSystem = {
    ...nodeFileSystem,
    openSync: (opening, flags) => {
      const isMeant = opening.endsWith(`/${name}`)
      if (isMeant && isHit('at opening')) throw failure()
      const descriptor = nodeFileSystem.openSync(opening, flags)
      if (isMeant) disk.opened = descriptor
      return descriptor
    },
    readSync: (descriptor, ...rest) => {
      if (descriptor === disk.opened && isHit('EIO')) throw failure()
      return nodeFileSystem.readSync(descriptor, ...rest)
    },
    closeSync: (descriptor) => {
      if (descriptor === disk.opened) disk.opened = undefined
      nodeFileSystem.closeSync(descriptor)
    },
  }
  return { disk, fs }
}

describe('a file that cannot be read', () => {
  test.each([
    ['EACCES', 'unreadable'],
    ['EIO', 'io-error'],
  ])('an unreadable file (%s) is a problem, and keeps its record [F-FS-03, F-FS-05]', async (systemCode, code) => {
    const { disk, fs } = failingDisk('bad.md')
    const { service, tested, mirror } = await startEngine({ 'bad.md': 'bad', 'good.md': 'good' }, { fs })
    disk.code = systemCode
    for (let run = 0; run < 3; run += 1) {
      const result = await tested.sync([mirror])
      expect(result.outcome).toBe('failures')
      expect(accountOf(result).problems).toMatchObject([{ path: 'bad.md', code }])
    }
    expect(readLibrary(service.dataDir).map(({ title }) => title)).toEqual(['good.md'])
    disk.code = undefined
    expect((await tested.sync([mirror])).outcome).toBe('done')

    // The store knows the file now, so its record stays while it cannot be read.
    const before = describeStore(tested.stateDir)
    disk.code = systemCode
    const again = await tested.sync([mirror], { hashEverything: true })
    expect(accountOf(again)).toMatchObject({ files: { removed: 0 }, problems: [{ path: 'bad.md', code }] })
    expect(describeStore(tested.stateDir)).toEqual(before)
    disk.code = undefined
    expect((await tested.sync([mirror])).outcome).toBe('done')
    expect(service.count('uploadFile')).toBe(2)
  })

  test('an unreadable file does not prevent the upload of its copy', async () => {
    const root = writeTree(temporaryDirectory(), { 'a.md': 'the same', 'b.md': 'the same', 'c.md': 'the same' })
    const { disk, fs } = failingDisk('a.md')
    // All files are hashed when the capabilities are read.
    const lockFirst = (client: ServiceClient): ServiceClient => ({
      ...client,
      capabilities: (signal) => {
        disk.code = 'EACCES'
        return client.capabilities(signal)
      },
    })
    const { service, tested } = await startEngine({}, { fs, wrapClient: lockFirst })
    const account = accountOf(await tested.sync([mirrorOf(root)]))
    expect(account).toMatchObject({ uploads: { created: 1 }, problems: [{ path: 'a.md', code: 'unreadable' }] })
    expect(readLibrary(service.dataDir).map(({ title }) => title)).toEqual(['b.md'])
  })
})

describe('a process without free descriptors', () => {
  /** A file system whose next `times` openings fail once the capabilities are read. */
  function exhausted(times: number) {
    const state = { left: 0, times }
    const fs: FileSystem = {
      ...nodeFileSystem,
      openSync: (path, flags) => {
        if (state.left === 0) return nodeFileSystem.openSync(path, flags)
        state.left -= 1
        throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' })
      },
    }
    const begin = (client: ServiceClient): ServiceClient => ({
      ...client,
      capabilities: (signal) => {
        state.left = state.times
        return client.capabilities(signal)
      },
    })
    return { fs, wrapClient: begin, state }
  }

  /** Delays take a hundredth of their time. */
  const clock = { ...systemClock, sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms / 100, signal) }

  test('a process without free descriptors sends a little later [F-FS-06]', async () => {
    const { fs, wrapClient } = exhausted(5)
    const { service, tested, mirror } = await startEngine(
      { 'a.md': 'A', 'big.txt': Buffer.alloc(300_000, 'b') },
      { fs, wrapClient, clock },
    )
    expect((await tested.sync([mirror])).outcome).toBe('done')
    expect(service.count('uploadFile')).toBe(2)
  })

  test('a lasting lack of descriptors is a problem of each file [F-FS-06]', async () => {
    const { fs, wrapClient, state } = exhausted(Number.POSITIVE_INFINITY)
    const { service, tested, mirror } = await startEngine(
      { 'a.md': 'A', 'big.txt': Buffer.alloc(300_000, 'b') },
      { fs, wrapClient, clock },
    )
    const result = await tested.sync([mirror])
    expect(result).toMatchObject({ outcome: 'failures', failure: undefined })
    expect(accountOf(result).problems.map(({ code }) => code)).toEqual(['io-error', 'io-error'])
    expect(accountOf(result).uploads).toMatchObject({ created: 0, failed: 0, inDoubt: 0 })
    // A run that cannot open even the directory reports that, and removes no record.
    state.left = Number.POSITIVE_INFINITY
    const scanned = await tested.sync([mirror], { hashEverything: true })
    expect(scanned).toMatchObject({ outcome: 'failures', failure: { code: 'root-unreadable' } })
    expect(scanned.failure?.message).toMatch(/too many files open/)
    expect(accountOf(scanned).files.removed).toBe(0)
    Object.assign(state, { left: 0, times: 0 })
    expect((await tested.sync([mirror])).outcome).toBe('done')
    expect(service.count('uploadFile')).toBe(2)
  })
})

test('a disk mounted inside the directory belongs to it unless configured [F-FS-09]', async () => {
  const { tested } = await startEngine()
  const root = writeTree(temporaryDirectory(), { 'a.md': 'A', 'disk/': '' })
  using _disk = mountSmallDisk(join(root, 'disk'), '1m')
  writeTree(root, { 'disk/b.md': 'B', 'disk/deep/c.md': 'C' })
  const mirror = mirrorOf(root, { oneFileSystem: true })
  const alone = accountOf(await tested.sync([mirror]))
  expect(alone).toMatchObject({ files: { scanned: 1, ignored: 1 }, problems: [] })
  const { rows } = await tested.report([mirror])
  expect(rows.map(({ entry }) => [entry.path, entry.class, entry.reason])).toEqual([
    ['a.md', 'in-sync', null],
    ['disk', 'ignored', 'on another file system'],
  ])
  const both = accountOf(await tested.sync([{ ...mirror, oneFileSystem: false }]))
  expect(both).toMatchObject({ files: { scanned: 3 }, uploads: { created: 2 } })
})

test('hard links are two files with one content, sent once [F-FS-10]', async () => {
  const { service, tested } = await startEngine()
  const root = writeTree(temporaryDirectory(), { 'a.md': 'first', 'other.md': 'other' })
  linkSync(join(root, 'a.md'), join(root, 'b.md'))
  const mirror = mirrorOf(root)
  const first = await tested.sync([mirror])
  expect(accountOf(first)).toMatchObject({ files: { scanned: 3 }, uploads: { created: 2, aliases: 1 } })
  // A write under one name changes both files.
  writeFileSync(join(root, 'a.md'), 'second')
  const second = await tested.sync([mirror])
  expect(accountOf(second)).toMatchObject({ files: { changed: 2 }, uploads: { created: 1, aliases: 1 } })
  expect(service.count('uploadFile')).toBe(3)
})

const YEAR_2023 = 1_700_000_000
const YEAR_2100 = 4_102_444_800
/** A clock by which hashes are old enough to be proof. */
const late = { ...systemClock, nowMs: () => systemClock.nowMs() + 10_000 }

test.each<[string, (path: string) => void]>([
  ['that go backwards', (path) => rewrite(path, 86_400)],
  ['in the far future', (path) => rewrite(path, YEAR_2100)],
  ['that were put back', (path) => rewrite(path, YEAR_2023)],
  ['of a file that was renamed over it', (path) => renameOver(path, YEAR_2023)],
])('times %s hide no change and send nothing twice [F-FS-17, F-FS-18]', async (_, change) => {
  const { service, tested, mirror } = await startEngine({ 'a.md': 'old bytes' }, { clock: late })
  utimesSync(join(mirror.path, 'a.md'), YEAR_2023, YEAR_2023)
  await tested.sync([mirror])
  change(join(mirror.path, 'a.md'))
  expect(accountOf(await tested.sync([mirror]))).toMatchObject({ files: { changed: 1 }, uploads: { created: 1 } })
  const last = await tested.sync([mirror])
  expect(last.outcome).toBe('done')
  expect(accountOf(last)).toMatchObject({ files: { scanned: 1, changed: 0 }, uploads: { created: 0 } })
  expect(service.count('uploadFile')).toBe(2)
})

test('a change through a memory map is found by the scrub [P10]', async () => {
  await using service = await startFaultyService()
  const root = writeTree(temporaryDirectory(), { 'a.md': 'old bytes' })
  const path = join(root, 'a.md')
  const seen = lstatSync(path, { bigint: true })
  const isIt = (stats: { readonly ino: bigint }) => stats.ino === seen.ino
  const fs: FileSystem = {
    ...nodeFileSystem,
    lstatSync: (asked, options) => (asked.endsWith('/a.md') ? seen : nodeFileSystem.lstatSync(asked, options)),
    fstatSync: (descriptor, options) => {
      const stats = nodeFileSystem.fstatSync(descriptor, options)
      return isIt(stats) ? seen : stats
    },
  }
  const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + 10_000 }
  await using tested = openTestEngine(service, { fs, clock })
  const mirror = mirrorOf(root)
  await tested.sync([mirror])
  writeFileSync(path, 'new bytes')
  expect(accountOf(await tested.sync([mirror])).files).toMatchObject({ unchanged: 1, changed: 0 })
  await tested[Symbol.asyncDispose]()
  await using scrubbing = openTestEngine(service, { fs, clock, stateDir: tested.stateDir, scrubIntervalMs: 0 })
  expect(accountOf(await scrubbing.sync([mirror]))).toMatchObject({ files: { changed: 1 }, uploads: { created: 1 } })
  expect(service.count('uploadFile')).toBe(2)
})

const NAMES = ['Case.md', 'case.md', 'caf\u00e9.md', 'cafe\u0301.md', 'plain.md']

test('names that look alike are separate files, with one warning [F-FS-11]', async () => {
  const root = writeTree(temporaryDirectory(), Object.fromEntries(NAMES.map((name) => [`sub/${name}`, name])))
  const warned: [string, LogFields | undefined][] = []
  const logger = { ...silentLogger, warn: (...line: [string, LogFields?]) => void warned.push([line[0], line[1]]) }
  const { tested } = await startEngine({}, { logger })
  const mirror = mirrorOf(root)
  expect(accountOf(await tested.sync([mirror])).uploads).toMatchObject({ created: 5, aliases: 0 })
  expect(warned).toEqual([
    ['files whose names look alike', { mirror: mirror.name, files: 4, path: 'sub/Case.md', other: 'sub/case.md' }],
  ])
  await tested.sync([mirror])
  expect(warned).toHaveLength(1)
  writeFileSync(join(root, 'sub/PLAIN.md'), 'PLAIN.md')
  await tested.sync([mirror])
  expect(warned).toHaveLength(2)
})

test('a tree that is too deep is mirrored as far as it opens [F-FS-14]', async () => {
  const { tested } = await startEngine()
  const root = writeTree(temporaryDirectory(), { 'a.md': 'A' })
  nest(root, 'd'.repeat(250), 20)
  const result = await tested.sync([mirrorOf(root)])
  expect(result).toMatchObject({ outcome: 'failures', failure: undefined })
  const { problems, uploads } = accountOf(result)
  expect(problems.length).toBeGreaterThan(0)
  expect(problems.every(({ code, path }) => code === 'io-error' && path.length > 3_500)).toBe(true)
  expect(uploads).toMatchObject({ failed: 0, inDoubt: 0 })
  expect(uploads.created).toBeGreaterThan(10)
})

test('the mirrored directory stays as it was, to the last time [P8]', async () => {
  const { service, tested } = await startEngine()
  const root = writeTree(temporaryDirectory(), {
    'a.md': 'A',
    'copy.md': 'A',
    'sub/big.txt': Buffer.alloc(400_000, 'b'),
    'sub/.shelfdignore': '*.tmp\n',
    'sub/x.tmp': 'x',
    'refused.md': 'R',
    'empty/': '',
  })
  const before = describeTree(root)
  service.answer = ({ fileName }) => (fileName === 'refused.md' ? { status: 422, body: {} } : undefined)
  service.fault = ({ fileName, attempt }) => (fileName === 'a.md' && attempt === 1 ? 'reset-after' : undefined)
  const mirror = mirrorOf(root)
  await tested.sync([mirror], { isDryRun: true })
  await tested.sync([mirror])
  await tested.sync([mirror], { hashEverything: true })
  await tested.report([mirror])
  expect(service.count('uploadFile')).toBeGreaterThan(2)
  expect(describeTree(root)).toEqual(before)
})

/** The rows of the store about files and uploads. */
function describeStore(stateDir: string): unknown[] {
  const { file, history, content, upload, directory } = dumpStore(stateDir)
  return [file, history, content, upload, directory]
}

/** New bytes of the same length, with this modification time (seconds). */
function rewrite(path: string, mtimeS: number): void {
  writeFileSync(path, 'new bytes')
  utimesSync(path, mtimeS, mtimeS)
}

/** Another file of the same length in its place. */
function renameOver(path: string, mtimeS: number): void {
  rewrite(`${path}.new`, mtimeS)
  renameSync(`${path}.new`, path)
}

/** `depth` directories in each other, with a file in each; the deepest have no path that could be opened. */
function nest(root: string, name: string, depth: number): void {
  const before = process.cwd()
  process.chdir(root)
  for (let level = 0; level < depth; level += 1) {
    mkdirSync(name)
    process.chdir(name)
    writeFileSync('f.md', `${level}`)
  }
  process.chdir(before)
}

/** All properties of a tree but the times of access. */
function describeTree(root: string): unknown[] {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true })
  return entries
    .map((entry) => {
      const path = join(entry.parentPath, entry.name)
      const { mode, size, mtimeNs, ctimeNs, ino, nlink } = lstatSync(path, { bigint: true })
      return [path, mode, size, mtimeNs, ctimeNs, ino, nlink, entry.isFile() && readFileSync(path, 'base64')]
    })
    .sort(([left], [right]) => (String(left) < String(right) ? -1 : 1))
}
