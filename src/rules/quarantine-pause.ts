const FIRST_MS = 25_000
const LONGEST_MS = 24 * 3_600_000

/** Refusals that the same bytes will meet again: straight to the longest pause. */
const HOPELESS: ReadonlySet<string> = new Set(['too-large'])

/** How long a content that the service refused stays quarantined: 25 s, growing fivefold, up to a day. */
export function quarantinePause(refusals: number, code: string): number {
  if (HOPELESS.has(code)) return LONGEST_MS
  return Math.min(LONGEST_MS, FIRST_MS * 5 ** Math.max(0, refusals))
}
