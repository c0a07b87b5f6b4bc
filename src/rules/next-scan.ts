export interface ScanIntervals {
  /** Pause between two scans of the whole; null: only when something calls for one. */
  readonly rescanMs: number | null
  /** Pause where nothing tells of changes. */
  readonly pollIntervalMs: number
  readonly settleMs: number
}

const SHORTEST_MS = 2_000
/** Scans that were called for take at most one part in so many of the time. */
const REST_FACTOR = 20

/** The pause before the next regular scan, with jitter so that mirrors don't scan together; null: none. `random` is in [0, 1). */
export function regularScanIntervalMs(pace: ScanIntervals, isBlind: boolean, random: number): number | null {
  const pauses = [...(pace.rescanMs === null ? [] : [pace.rescanMs]), ...(isBlind ? [pace.pollIntervalMs] : [])]
  return pauses.length === 0 ? null : Math.min(...pauses) * (0.9 + 0.2 * random)
}

/** The pause before a scan that something called for: whatever moved must have rested, and scanning must not become all we do. */
export function promptScanDelayMs({ settleMs }: ScanIntervals, lastScanMs: number): number {
  return Math.max(SHORTEST_MS, settleMs * 1.5, lastScanMs * REST_FACTOR)
}
