export interface ScanIntervals {
  /** Null: a scan needs another cause. */
  readonly rescanMs: number | null
  /** Where no watcher reports changes. */
  readonly pollIntervalMs: number
  readonly settleMs: number
}

const MIN_MS = 2_000
/** Prompt scans take at most 1/20 of the time. */
const IDLE_FACTOR = 20

/** Jitter prevents simultaneous scans. Null: no scans. `random` is in [0, 1). */
export function regularScanIntervalMs(scanIntervals: ScanIntervals, isBlind: boolean, random: number): number | null {
  const intervals = [
    ...(scanIntervals.rescanMs === null ? [] : [scanIntervals.rescanMs]),
    ...(isBlind ? [scanIntervals.pollIntervalMs] : []),
  ]
  return intervals.length === 0 ? null : Math.min(...intervals) * (0.9 + 0.2 * random)
}

/** Changed files must settle first, and scans must not take all the time. */
export function promptScanDelayMs({ settleMs }: ScanIntervals, lastScanMs: number): number {
  return Math.max(MIN_MS, settleMs * 1.5, lastScanMs * IDLE_FACTOR)
}

/**
 * `intervalMs` null: never. Times are wall clock. A scrub recorded a whole interval in the future counts as due, since the clock was
 * wrong (P20, clocks).
 */
export function isScrubDue(scrubbedAtMs: number, intervalMs: number | null, nowMs: number): boolean {
  return intervalMs !== null && Math.abs(nowMs - scrubbedAtMs) >= intervalMs
}
