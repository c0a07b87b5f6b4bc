import { DAY_MS } from '../foundation/text/times.ts'

export interface ScanIntervals {
  /** Interval between two full scans; null: a scan needs another cause. */
  readonly rescanMs: number | null
  /** Interval where no watcher reports changes. */
  readonly pollIntervalMs: number
  readonly settleMs: number
}

const SHORTEST_MS = 2_000
/** Prompt scans take at most 1/20 of the time. */
const IDLE_FACTOR = 20

/** The delay before the next regular scan, with jitter against simultaneous scans; null: none. `random` is in [0, 1). */
export function regularScanIntervalMs(scanIntervals: ScanIntervals, isBlind: boolean, random: number): number | null {
  const intervals = [
    ...(scanIntervals.rescanMs === null ? [] : [scanIntervals.rescanMs]),
    ...(isBlind ? [scanIntervals.pollIntervalMs] : []),
  ]
  return intervals.length === 0 ? null : Math.min(...intervals) * (0.9 + 0.2 * random)
}

/** The delay before a prompt scan: changed files must settle first, and scans must not take up all the time. */
export function promptScanDelayMs({ settleMs }: ScanIntervals, lastScanMs: number): number {
  return Math.max(SHORTEST_MS, settleMs * 1.5, lastScanMs * IDLE_FACTOR)
}

/**
 * Returns whether every file is to be hashed again; `intervalMs` null: never. Times are wall clock. A scrub that is recorded a whole
 * interval in the future counts as due: the clock was wrong then (P20).
 */
export function isScrubDue(scrubbedAtMs: number, intervalMs: number | null, nowMs: number): boolean {
  return intervalMs !== null && Math.abs(nowMs - scrubbedAtMs) >= intervalMs
}

interface TimedShape {
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
}

/** The clock of a disk may be ahead by as much, such as one that is set to another time zone. */
const MOST_AHEAD_MS = DAY_MS

/**
 * Milliseconds from a file's newest time to `nowMs`, by the wall clock; never below 0. A time in the future says nothing beside one
 * that is not. A file whose times are both in the future is new, unless they are too far away for a clock that is a little ahead.
 */
export function ageMsOf({ mtimeNs, ctimeNs }: TimedShape, nowMs: number): number {
  const [mtimeAgo, ctimeAgo] = [nowMs - toMs(mtimeNs), nowMs - toMs(ctimeNs)]
  if (mtimeAgo >= 0 && ctimeAgo >= 0) return Math.min(mtimeAgo, ctimeAgo)
  const ageMs = Math.max(mtimeAgo, ctimeAgo)
  if (ageMs >= 0) return ageMs
  return -ageMs > MOST_AHEAD_MS ? -ageMs : 0
}

function toMs(timeNs: bigint): number {
  return Number(timeNs / 1_000_000n)
}

/** Returns whether a file has been unchanged for `settleMs` by its own times; otherwise the caller must watch it for that time. */
export function isSettled(file: TimedShape, nowMs: number, settleMs: number): boolean {
  return ageMsOf(file, nowMs) >= settleMs
}
