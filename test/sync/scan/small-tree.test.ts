import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { systemClock } from '../../../src/foundation/clock.ts'
import { type FileSystem, nodeFileSystem } from '../../../src/local/read/file-system.ts'
import type { ScanBatch } from '../../../src/sync/scan/scan-batch.ts'
import { createScanner, scopeAt, walkTree } from '../../../src/sync/scan/scan-directory.ts'
import { walkBySize } from '../../../src/sync/scan/walk-by-checkers.ts'
import { SMALL_TREE, walkSmallTree } from '../../../src/sync/scan/walk-small-tree.ts'
import { accountOf, mirrorOf, startEngine } from '../../support/engine.ts'
import { manyFiles, temporaryDirectory, writeTree } from '../../support/temporary.ts'
import { walkOptions } from './walk-options.ts'

const ENDLESS = { calls: Infinity, bytes: Infinity, durationMs: Infinity }
const FILES = 60
/** A clock by which no file is too new for its hash to be proof. */
const later = { ...systemClock, nowMs: () => systemClock.nowMs() + 60_000 }

/** Files, ignored ones, a link, and a directory that cannot be listed. */
function oddTree(): string {
  const root = writeTree(temporaryDirectory(), {
    '.shelfdignore': 'left-out/\n*.bak\n',
    'a.md': 'a',
    'b/c.md': 'c',
    'b/d/e.md': 'e'.repeat(100),
    'b/d/f.bak': 'f',
    'closed/j.md': 'j',
    'h/.shelfdignore': '!i.bak\n',
    'h/empty/': '',
    'h/i.bak': 'i',
    'left-out/g.md': 'g',
  })
  symlinkSync(join(root, 'a.md'), join(root, 'b', 'link.md'))
  return root
}

/** A file system that cannot list `closed`, and counts its calls and open descriptors. */
function countingFileSystem() {
  const counts = { calls: 0, open: 0 }
  const fs = new Proxy(nodeFileSystem, {
    get: (target, name: keyof FileSystem) => {
      return (...args: unknown[]) => {
        counts.calls += 1
        const isClosed = name === 'openSync' && String(args[0]).endsWith('/closed')
        if (isClosed) throw Object.assign(new Error('EACCES: no'), { code: 'EACCES' })
        const answer: unknown = Reflect.apply(Reflect.get(target, name) ?? Reflect.get, target, args)
        if (name === 'openSync') counts.open += 1
        if (name === 'closeSync') counts.open -= 1
        return answer
      }
    },
  })
  return { fs, counts }
}

function scannerOf(root: string, fs: FileSystem = nodeFileSystem) {
  return createScanner(undefined, walkOptions(root), { fs, clock: later })
}

/** Everything found, whatever batch it came in. */
function sumUp(batches: readonly ScanBatch[]): string[] {
  const counted = batches.flatMap(({ counts }) =>
    Object.entries(counts).flatMap(([name, count]) => Array(count).fill(name)),
  )
  const found = batches.flatMap(({ directories, changes, problems, unreadable, ignoredDirectories, leftOut }) => {
    return [directories, changes, problems, unreadable, ignoredDirectories, leftOut].flat()
  })
  const write = (value: unknown) => JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? String(part) : part))
  return [...counted, ...found.map(write)].sort()
}

function walkRest(
  root: string,
  fs: FileSystem,
  remaining: readonly { readonly path: string }[] = [{ path: '' }],
): ScanBatch[] {
  const scanner = scannerOf(root, fs)
  return remaining.flatMap(({ path }) => [...walkTree(scanner, [{ path, scope: scopeAt(scanner, path) }], () => {})])
}

describe('a walk on the main thread', () => {
  test('the main thread walks a small tree to its end', () => {
    const root = oddTree()
    const { batches, remaining } = walkSmallTree(scannerOf(root), ENDLESS)
    expect(remaining).toEqual([])
    expect(sumUp(batches)).toEqual(sumUp(walkRest(root, nodeFileSystem)))
  })

  test('a walk leaves whole directories to threads, wherever it ends', () => {
    const root = oddTree()
    const { fs, counts } = countingFileSystem()
    const whole = sumUp(walkRest(root, fs))
    const most = counts.calls
    expect(whole).toContainEqual(expect.stringContaining('"unreadable"'))
    for (let calls = 0; calls <= 2 * most; calls += 1) {
      const { batches, remaining } = walkSmallTree(scannerOf(root, fs), { ...ENDLESS, calls })
      expect(sumUp([...batches, ...walkRest(root, fs, remaining)])).toEqual(whole)
      expect(counts.open).toBe(0)
      if (calls < 5) expect(remaining).toMatchObject([{ path: '' }])
    }
  })

  test('a walk leaves the directory of a large file to threads', () => {
    const { remaining } = walkSmallTree(scannerOf(oddTree()), { ...ENDLESS, bytes: 90 })
    expect(remaining.map(({ path }) => path)).toContain('b/d')
  })

  test('a walk leaves all of a slow disk to threads', () => {
    const { batches, remaining } = walkSmallTree(scannerOf(oddTree()), { ...ENDLESS, durationMs: -1 })
    expect({ batches, remaining }).toMatchObject({ batches: [], remaining: [{ path: '' }] })
  })
})

test.each([
  ['directories of every size', SMALL_TREE],
  ['a calling thread that leaves most of them to the other', { ...SMALL_TREE, calls: 40 }],
  ['a calling thread that leaves all of them', { ...SMALL_TREE, calls: 0 }],
])('the calling thread and another one walk each directory once: %s', async (_, bounds) => {
  const small = Array.from({ length: 300 }, (_, index) => [`small/${index}/${index % 7}/a.md`, `${index}`])
  const root = writeTree(temporaryDirectory(), { ...Object.fromEntries(small), ...manyFiles(2_000, 20) })
  const { tested } = await startEngine()
  const start = walkBySize(tested.store, 2, bounds)
  const read: number[] = []
  const options = { ...walkOptions(root), storedDirectoryCount: 1_000 }
  await using walk = start(options, new AbortController().signal, ({ files }) => void read.push(files))
  const found = (batches: readonly ScanBatch[]) => ({
    directories: batches.flatMap(({ directories }) => directories).sort(),
    files: batches
      .flatMap(({ changes }) => changes.flatMap(({ path, files }) => files.map(({ name }) => `${path}/${name}`)))
      .sort(),
  })
  expect(found(await Array.fromAsync(walk))).toEqual(found(walkRest(root, nodeFileSystem)))
  expect(read.reduce((sum, files) => sum + files, 0)).toBe(2_300)
})

test('threads walk the remaining directories of a larger tree', async () => {
  const root = writeTree(temporaryDirectory(), manyFiles(FILES, FILES))
  const { tested } = await startEngine()
  Object.assign(tested.engine, { startWalk: walkBySize(tested.store, 2, { ...SMALL_TREE, calls: 20 }) })
  expect(accountOf(await tested.sync([mirrorOf(root)])).files).toMatchObject({ scanned: FILES, new: FILES })
  expect(tested.engine.progress.filesScanned).toBe(FILES)
  expect(accountOf(await tested.sync([mirrorOf(root)])).files).toMatchObject({ scanned: FILES, new: 0, removed: 0 })
})
