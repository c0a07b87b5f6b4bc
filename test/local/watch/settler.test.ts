import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { type FileStats, type FileSystem, nodeFileSystem } from '../../../src/local/read/file-system.ts'
import { Settler } from '../../../src/local/watch/settler.ts'
import { type ManualClock, manualClock } from '../../support/manual-clock.ts'

const SETTLE_MS = 1_000
const YEAR_MS = 365 * 86_400_000
const REGULAR = 0o100644n

interface File {
  sizeBytes: number
  /** By the wall clock at that time. */
  timeMs: number
  /** By the monotonic clock. */
  changedMs: number
}

let clock: ManualClock
let files: Map<string, File>
let settler: Settler

beforeEach(begin)

function begin(): void {
  clock = manualClock()
  files = new Map()
  const lstatSync: FileSystem['lstatSync'] = (path) => statsOf(path.replace('/root/', ''))
  settler = new Settler({ fs: { ...nodeFileSystem, lstatSync }, clock, rootRealPath: '/root', settleMs: SETTLE_MS })
}

function statsOf(path: string): FileStats {
  const file = files.get(path)
  if (!file) throw Object.assign(new Error('gone'), { code: 'ENOENT' })
  const timeNs = BigInt(file.timeMs) * 1_000_000n
  const times = { mtimeNs: timeNs, ctimeNs: timeNs }
  return { dev: 1n, ino: 1n, mode: REGULAR, size: BigInt(file.sizeBytes), ...times }
}

function change(path: string): void {
  const sizeBytes = (files.get(path)?.sizeBytes ?? 0) + 1
  files.set(path, { sizeBytes, timeMs: clock.nowMs(), changedMs: clock.monotonicMs() })
}

function takeAll(): string[] {
  return settler.takeSettled(Number.POSITIVE_INFINITY)
}

/** What may happen to one of a few files, or to the clocks. */
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('change' as const), file: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('hint' as const), file: fc.nat(3) }) },
  // A write without an event, as through a memory map; a hint comes later or came before.
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('silent' as const), file: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), file: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('scan' as const), file: fc.nat(3) }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 1_500 }) }) },
)
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

/** When each path that was not taken yet had its last hint, by the monotonic clock. */
type Hints = Map<string, number>

function play(taken: Step, hintedAtMs: Hints): void {
  if (taken.kind === 'pass') return
  const path = `${taken.file}.md`
  const { kind } = taken
  if (kind === 'remove') files.delete(path)
  if (kind === 'change' || kind === 'silent') change(path)
  if (kind === 'silent' && !hintedAtMs.has(path)) return
  if (kind === 'scan') {
    const file = files.get(path)
    if (!file) return
    const { size: _, ...stats } = statsOf(path)
    settler.markUnsettled(path, { sizeBytes: file.sizeBytes, ...stats, inode: stats.ino })
    if (!hintedAtMs.has(path)) hintedAtMs.set(path, clock.monotonicMs())
  } else if (kind !== 'silent') {
    settler.markChanged(path)
    hintedAtMs.set(path, clock.monotonicMs())
  }
}

/** Lets time pass from one due time to the next, as the daemon does, and checks everything that is taken. */
async function passTime(ms: number, hintedAtMs: Hints): Promise<void> {
  const endMs = clock.monotonicMs() + ms
  for (;;) {
    const dueMs = settler.nextDueMs() ?? Number.POSITIVE_INFINITY
    await clock.advance(Math.max(0, Math.min(dueMs, endMs) - clock.monotonicMs()))
    for (const path of takeAll()) {
      const file = files.get(path)
      if (file) expect(clock.monotonicMs() - file.changedMs, 'settled').toBeGreaterThanOrEqual(SETTLE_MS)
      expect(hintedAtMs.has(path), 'had a hint').toBe(true)
      hintedAtMs.delete(path)
    }
    // The bound counts from the last hint or, if later, from the last change without an event.
    for (const [path, hintedMs] of hintedAtMs) {
      const sinceMs = Math.max(hintedMs, files.get(path)?.changedMs ?? 0)
      expect(clock.monotonicMs() - sinceMs, 'not later').toBeLessThan(2 * SETTLE_MS)
    }
    if (clock.monotonicMs() >= endMs && dueMs > endMs) return
  }
}

test('every file is taken once settled and in time', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      begin()
      const hintedAtMs: Hints = new Map()
      for (const taken of steps) {
        play(taken, hintedAtMs)
        if (taken.kind === 'pass') await passTime(taken.ms, hintedAtMs)
      }
      await passTime(2 * SETTLE_MS, hintedAtMs)
      expect([settler.size, hintedAtMs.size, settler.nextDueMs()]).toEqual([0, 0, undefined])
    }),
    { numRuns: 60 },
  )
})

test.each([-10 * YEAR_MS, 10 * YEAR_MS])('a clock set by %i ms delays settling once [P20]', async (byMs) => {
  change('a.md')
  settler.markChanged('a.md')
  clock.jump(byMs)
  await clock.advance(SETTLE_MS - 1)
  expect(takeAll()).toEqual([])
  await clock.advance(1)
  const taken = takeAll()
  await clock.advance(SETTLE_MS)
  expect([...taken, ...takeAll()]).toEqual(['a.md'])
})

describe('paths', () => {
  test('a path that is gone is taken after the settle time', async () => {
    settler.markChanged('gone.md')
    expect(settler.nextDueMs()).toBe(SETTLE_MS)
    await clock.advance(SETTLE_MS)
    expect(takeAll()).toEqual(['gone.md'])
  })

  test('files of a scan wait for the remaining settle time', async () => {
    change('a.md')
    await clock.advance(600)
    const { size: _, ino: inode, ...stats } = statsOf('a.md')
    settler.markUnsettled('a.md', { ...stats, inode, sizeBytes: 1 })
    expect(settler.nextDueMs()).toBe(SETTLE_MS)
  })

  test('paths that never settle have a waiting time', async () => {
    for (let second = 0; second < 30; second += 1) {
      change('log.md')
      settler.markChanged('log.md')
      await clock.advance(SETTLE_MS - 1)
      expect(takeAll()).toEqual([])
    }
    expect([settler.waitedMs('log.md'), settler.waitedMs('other.md')]).toEqual([30 * (SETTLE_MS - 1), 0])
  })

  test('paths changed before a moment are waited for, within a bound', async () => {
    change('before')
    settler.markChanged('before')
    await clock.advance(10)
    const atMs = clock.monotonicMs()
    await clock.advance(10)
    settler.markChanged('after')
    expect(settler.hasWaitedSince(atMs, 1_000)).toBe(true)
    expect(settler.hasWaitedSince(atMs, 20), 'for too long').toBe(false)
    expect(settler.hasWaitedSince(atMs - 11, 1_000), 'only later').toBe(false)
    await clock.advance(SETTLE_MS)
    expect(takeAll().sort()).toEqual(['after', 'before'])
    expect(settler.hasWaitedSince(clock.monotonicMs(), 1_000)).toBe(false)
  })

  test('paths are taken in portions, each once', async () => {
    for (let index = 0; index < 10; index += 1) settler.markChanged(`${index}.md`)
    await clock.advance(SETTLE_MS)
    const portions = [settler.takeSettled(4), settler.takeSettled(4), settler.takeSettled(4)]
    expect(portions.map(({ length }) => length)).toEqual([4, 4, 2])
    expect(new Set(portions.flat()).size).toBe(10)
  })

  test('paths are covered by directories above them', () => {
    settler.markChanged('a/b')
    expect(['a/b', 'a/b/c/d.md', 'a/bc', 'a'].map((path) => settler.covers(path))).toEqual([true, true, false, false])
  })

  test('paths beyond the bound are not taken [P21]', () => {
    for (let index = 0; index < 50_000; index += 1) settler.markChanged(`${index}.md`)
    expect(settler.isFull).toBe(true)
    settler.markChanged('more.md')
    settler.markChanged('0.md')
    expect([settler.size, settler.has('more.md')]).toEqual([50_000, false])
  })

  test('the cost of a path that keeps coming does not grow with the number of paths', () => {
    const [few, many] = [200, 20_000].map((paths) => {
      begin()
      for (let index = 0; index < paths; index += 1) settler.markChanged(`${index}.md`)
      const before = process.threadCpuUsage()
      // Enough that the system, which may count in steps of 10 ms, measures something.
      for (let index = 0; index < 300_000; index += 1) {
        settler.markChanged(`${index % paths}.md`)
        settler.nextDueMs()
      }
      const { user, system } = process.threadCpuUsage(before)
      return user + system
    })
    // If each call walked all paths, the ratio would be near 100.
    expect((many ?? 0) / (few ?? 0)).toBeLessThan(25)
  })
})
