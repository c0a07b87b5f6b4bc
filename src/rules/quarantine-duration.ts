const FIRST_MS = 25_000
const LONGEST_MS = 24 * 3_600_000

/** Refusals that the same bytes will meet again: straight to the longest pause. */
const HOPELESS: ReadonlySet<string> = new Set(['too-large'])

/** How long a content that the service refused stays quarantined: 25 s, growing fivefold, up to a day. */
export function quarantineDurationMs(refusals: number, code: string): number {
  if (HOPELESS.has(code)) return LONGEST_MS
  return Math.min(LONGEST_MS, FIRST_MS * 5 ** Math.max(0, refusals))
}

/**
 * The first and the last time at which a quarantine that lasts at `nowMs` can end (wall clock). One that ends later was
 * noted while the clock was wrong, and is over like one that ended before (P20).
 */
export function quarantineEnds(nowMs: number): readonly [number, number] {
  return [nowMs + 1, nowMs + LONGEST_MS]
}

/** How long a content stays quarantined from `nowMs` on; 0 when it is due. */
export function quarantineLeftMs(retryAt: number | null, nowMs: number): number {
  const [first, last] = quarantineEnds(nowMs)
  return retryAt !== null && retryAt >= first && retryAt <= last ? retryAt - nowMs : 0
}
