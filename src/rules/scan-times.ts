export interface ScanIntervals {
  /** Null: no scans at regular times. */
  readonly rescanMs: number | null
  /** The interval of scans where no watcher reports changes. */
  readonly pollIntervalMs: number
  readonly settleMs: number
}

const MIN_MS = 2_000
/** After a scan, the delay of the next prompt one is this many times its duration, so that scans take at most 1/20 of the time. */
const IDLE_FACTOR = 20

/** Returns the interval of regular scans, with jitter against simultaneous scans; null: none. `random` is in [0, 1). */
export function regularScanIntervalMs(scanIntervals: ScanIntervals, isBlind: boolean, random: number): number | null {
  const intervals = [
    ...(scanIntervals.rescanMs === null ? [] : [scanIntervals.rescanMs]),
    ...(isBlind ? [scanIntervals.pollIntervalMs] : []),
  ]
  return intervals.length === 0 ? null : Math.min(...intervals) * (0.9 + 0.2 * random)
}

/** Returns the delay of a scan that finds changes soon: changed files must settle first, and scans must not take all the time. */
export function promptScanDelayMs({ settleMs }: ScanIntervals, lastScanMs: number): number {
  return Math.max(MIN_MS, settleMs * 1.5, lastScanMs * IDLE_FACTOR)
}

/**
 * Returns whether every file is to be hashed again; never with `intervalMs` null. Times are wall clock. If the last time is recorded a
 * whole interval or more in the future, the clock was wrong, and hashing is due (P20, clocks).
 */
export function isScrubDue(scrubbedAtMs: number, intervalMs: number | null, nowMs: number): boolean {
  return intervalMs !== null && Math.abs(nowMs - scrubbedAtMs) >= intervalMs
}
