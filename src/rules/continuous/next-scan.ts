export interface ScanIntervals {
  /** Interval between two full scans; null: a scan needs another cause. */
  readonly rescanMs: number | null
  /** Interval where no watcher reports changes. */
  readonly pollIntervalMs: number
  readonly settleMs: number
}

const SHORTEST_MS = 2_000
/** Prompt scans take at most one part in so many of the time. */
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
