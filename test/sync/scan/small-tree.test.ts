import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { systemClock } from '../../../src/foundation/clock.ts'
import { type FileSystem, nodeFileSystem } from '../../../src/local/read/file-system.ts'
import type { ScanBatch } from '../../../src/sync/scan/scan-batch.ts'
import { createScanner, scopeAt, walkTree } from '../../../src/sync/scan/scan-directory.ts'
import { SMALL_TREE, walkBySize, walkSmallTree } from '../../../src/sync/scan/walk-small-tree.ts'
import { accountOf, mirrorOf, startEngine } from '../../support/engine.ts'
import { manyFiles, temporaryDirectory, writeTree } from '../../support/temporary.ts'
import { walkOptions } from './walk-options.ts'

const NEVER = new AbortController().signal
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

function walkRest(root: string, fs: FileSystem, rest: readonly string[]): ScanBatch[] {
  const scanner = scannerOf(root, fs)
  return rest.flatMap((path) => [...walkTree(scanner, [{ path, scope: scopeAt(scanner, path) }], () => {})])
}

describe('a walk on the main thread', () => {
  test('the main thread walks a small tree to its end', () => {
    const root = oddTree()
    const { batches, rest } = walkSmallTree(scannerOf(root), NEVER, ENDLESS)
    expect(rest).toEqual([])
    expect(sumUp(batches)).toEqual(sumUp(walkRest(root, nodeFileSystem, [''])))
  })

  test('a walk leaves whole directories to threads, wherever it ends', () => {
    const root = oddTree()
    const { fs, counts } = countingFileSystem()
    const whole = sumUp(walkRest(root, fs, ['']))
    const most = counts.calls
    expect(whole).toContainEqual(expect.stringContaining('"unreadable"'))
    for (let calls = 0; calls <= 2 * most; calls += 1) {
      const { batches, rest } = walkSmallTree(scannerOf(root, fs), NEVER, { ...ENDLESS, calls })
      expect(sumUp([...batches, ...walkRest(root, fs, rest)])).toEqual(whole)
      expect(counts.open).toBe(0)
      if (calls < 5) expect(rest).toEqual([''])
    }
  })

  test('a walk leaves the directory of a large file to threads', () => {
    const { rest } = walkSmallTree(scannerOf(oddTree()), NEVER, { ...ENDLESS, bytes: 90 })
    expect(rest).toContain('b/d')
  })

  test('a walk leaves all of a slow disk to threads', () => {
    const { batches, rest } = walkSmallTree(scannerOf(oddTree()), NEVER, { ...ENDLESS, durationMs: -1 })
    expect({ batches, rest }).toEqual({ batches: [], rest: [''] })
  })

  test('a walk ends with an interruption', () => {
    expect(() => walkSmallTree(scannerOf(oddTree()), AbortSignal.abort(new Error('stop')), ENDLESS)).toThrow('stop')
  })
})

test('threads walk the rest of a larger tree', async () => {
  const root = writeTree(temporaryDirectory(), manyFiles(FILES, FILES))
  const { tested } = await startEngine()
  Object.assign(tested.engine, { startWalk: walkBySize(tested.store, 2, { ...SMALL_TREE, calls: 20 }) })
  expect(accountOf(await tested.sync([mirrorOf(root)])).files).toMatchObject({ scanned: FILES, new: FILES })
  expect(tested.engine.progress.filesScanned).toBe(FILES)
  expect(accountOf(await tested.sync([mirrorOf(root)])).files).toMatchObject({ scanned: FILES, new: 0, removed: 0 })
})
