import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { systemClock } from '../../../src/foundation/clock.ts'
import { joinPath } from '../../../src/foundation/files/paths.ts'
import { type FileSystem, nodeFileSystem } from '../../../src/local/read/file-system.ts'
import { createObserver } from '../../../src/sync/observe/create-observer.ts'
import type { ObservationBatch } from '../../../src/sync/observe/observation.ts'
import { walkInThreads } from '../../../src/sync/observe/observe-in-threads.ts'
import { observeTree } from '../../../src/sync/observe/small-tree/observe-tree.ts'
import { DIRECTORY_BUDGET, StepWalker } from '../../../src/sync/observe/small-tree/walk-in-steps.ts'
import { SMALL_TREE, walkSmallTree } from '../../../src/sync/observe/small-tree/walk-small-tree.ts'
import { scopeAt, walkTree } from '../../../src/sync/observe/walk-tree.ts'
import { accountOf, mirrorOf, openTestEngine } from '../../support/engine.ts'
import { startFaultyService } from '../../support/faulty-service.ts'
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

function observerOf(root: string, fs: FileSystem = nodeFileSystem) {
  return createObserver(undefined, walkOptions(root), { fs, clock: later })
}

/** Everything found, whatever batch it came in. */
function sumUp(batches: readonly ObservationBatch[]): string[] {
  const counted = batches.flatMap(({ counts }) =>
    Object.entries(counts).flatMap(([name, count]) => Array(count).fill(name)),
  )
  const found = batches.flatMap(({ directories, observations, problems, unreadable, ignoredDirectories, leftOut }) => {
    return [directories, observations, problems, unreadable, ignoredDirectories, leftOut].flat()
  })
  const write = (value: unknown) => JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? String(part) : part))
  return [...counted, ...found.map(write)].sort()
}

function walkRest(root: string, fs: FileSystem, rest: readonly string[]): ObservationBatch[] {
  const observer = observerOf(root, fs)
  return rest.flatMap((path) => [...walkTree(observer, [{ path, scope: scopeAt(observer, path) }], () => {})])
}

describe('a walk on the main thread', () => {
  test('the main thread walks a small tree to its end', () => {
    const root = oddTree()
    const { batches, rest } = walkSmallTree(observerOf(root), NEVER, ENDLESS)
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
      const { batches, rest } = walkSmallTree(observerOf(root, fs), NEVER, { ...ENDLESS, calls })
      expect(sumUp([...batches, ...walkRest(root, fs, rest)])).toEqual(whole)
      expect(counts.open).toBe(0)
      if (calls < 5) expect(rest).toEqual([''])
    }
  })

  test('a walk leaves the directory of a large file to threads', () => {
    const { rest } = walkSmallTree(observerOf(oddTree()), NEVER, { ...ENDLESS, bytes: 90 })
    expect(rest).toContain('b/d')
  })

  test('a walk leaves all of a slow disk to threads', () => {
    const { batches, rest } = walkSmallTree(observerOf(oddTree()), NEVER, { ...ENDLESS, durationMs: -1 })
    expect({ batches, rest }).toEqual({ batches: [], rest: [''] })
  })

  test('a walk ends with an interruption', () => {
    expect(() => walkSmallTree(observerOf(oddTree()), AbortSignal.abort(new Error('stop')), ENDLESS)).toThrow('stop')
  })
})

/** Takes all steps of a walk from the root. */
function walkInSteps(walker: StepWalker) {
  const batches: ObservationBatch[] = []
  const left: string[] = []
  walker.take([''])
  while (walker.hasWork) {
    const step = walker.step()
    batches.push(...step.batches)
    left.push(...step.left)
  }
  return { batches, left }
}

describe('a walk in steps beside threads', () => {
  test('a walk in steps finds what a thread finds', () => {
    const root = oddTree()
    const { batches, left } = walkInSteps(new StepWalker(observerOf(root)))
    expect({ found: sumUp(batches), left }).toEqual({ found: sumUp(walkRest(root, nodeFileSystem, [''])), left: [] })
  })

  test('a walk in steps leaves whole directories that take much', () => {
    const root = oddTree()
    const { fs, counts } = countingFileSystem()
    const whole = sumUp(walkRest(root, fs, ['']))
    for (let calls = 0; calls <= 30; calls += 1) {
      const walker = new StepWalker(observerOf(root, fs), { ...ENDLESS, calls })
      const { batches, left } = walkInSteps(walker)
      expect(sumUp([...batches, ...walkRest(root, fs, left)])).toEqual(whole)
      expect([counts.open, walker.hasRetired]).toEqual([0, false])
    }
    const { left } = walkInSteps(new StepWalker(observerOf(root, fs), { ...ENDLESS, bytes: 90 }))
    expect(left).toEqual(['b/d'])
  })

  test('a walk in steps retires from a slow disk', () => {
    const walker = new StepWalker(observerOf(oddTree()), { ...ENDLESS, durationMs: -1 })
    walker.take(['b', 'h'])
    expect(walker.step().left.toSorted()).toEqual(['b', 'h'])
    expect([walker.hasRetired, walker.hasWork]).toEqual([true, false])
  })

  test('a walk in steps gives the larger half away', () => {
    const root = oddTree()
    const walker = new StepWalker(observerOf(root))
    walker.take(['b'])
    expect(walker.giveHalf()).toEqual([])
    walker.take(['h', 'left-out'])
    expect(walker.giveHalf()).toEqual(['b'])
  })

  test.each([
    ['walks all that it can', DIRECTORY_BUDGET],
    ['leaves every directory to the thread', { ...ENDLESS, calls: 0 }],
    ['retires at once', { ...ENDLESS, durationMs: -1 }],
  ])('nothing is lost or found twice when this thread %s', async (_, budget) => {
    const root = writeTree(temporaryDirectory(), manyFiles(300, 100))
    const walker = new StepWalker(observerOf(root), budget)
    await using walk = walkInThreads({ threads: 2, options: walkOptions(root), own: walker }, NEVER, [''])
    const directories: string[] = []
    const files: string[] = []
    for await (const batch of walk) {
      directories.push(...batch.directories)
      files.push(...batch.observations.flatMap((found) => found.files.map(({ name }) => joinPath(found.path, name))))
    }
    expect(files.toSorted()).toEqual(Object.keys(manyFiles(300, 100)).toSorted())
    expect(new Set(directories).size).toBe(directories.length)
  })
})

test.each([
  ['this thread and another one walk', false],
  ['threads alone walk, if this one is busy,', true],
])('%s the rest of a larger tree', async (_, isBusy) => {
  const root = writeTree(temporaryDirectory(), manyFiles(FILES, FILES))
  await using service = await startFaultyService()
  await using tested = openTestEngine(service)
  Object.assign(tested.engine, {
    observeTree: observeTree(tested.store, 2, { most: { ...SMALL_TREE, calls: 20 }, isBusy }),
  })
  expect(accountOf(await tested.sync([mirrorOf(root)])).files).toMatchObject({ scanned: FILES, new: FILES })
  expect(tested.engine.progress.filesScanned).toBe(FILES)
  expect(accountOf(await tested.sync([mirrorOf(root)])).files).toMatchObject({ scanned: FILES, new: 0, removed: 0 })
})
