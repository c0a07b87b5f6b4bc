import { DAY_MS } from '../foundation/text/times.ts'

const FIRST_MS = 25_000
const LONGEST_MS = DAY_MS

/** The service will refuse the same bytes again, so the longest duration applies at once. */
const HOPELESS: ReadonlySet<string> = new Set(['too-large'])

/** Returns how long a failed content stays in quarantine: 25 s, growing fivefold, up to a day. */
export function quarantineDurationMs(refusals: number, code: string): number {
  if (HOPELESS.has(code)) return LONGEST_MS
  return Math.min(LONGEST_MS, FIRST_MS * 5 ** Math.max(0, refusals))
}

/**
 * The earliest and the latest end of a quarantine that is running at `nowMs` (wall clock). A later end was recorded while
 * the clock was wrong, and the quarantine counts as over (P20).
 */
export function quarantineEnds(nowMs: number): readonly [number, number] {
  return [nowMs + 1, nowMs + LONGEST_MS]
}

/** Milliseconds of a quarantine left at `nowMs`; 0 when the content is due. */
export function quarantineLeftMs(retryAt: number | null, nowMs: number): number {
  const [first, last] = quarantineEnds(nowMs)
  return retryAt !== null && retryAt >= first && retryAt <= last ? retryAt - nowMs : 0
}
