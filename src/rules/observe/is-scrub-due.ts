/**
 * Whether every file is to be hashed again; `intervalMs` null: never. Times are wall clock. A scrub that is recorded a whole
 * interval in the future counts as due: the clock was wrong then (P20).
 */
export function isScrubDue(scrubbedAtMs: number, intervalMs: number | null, nowMs: number): boolean {
  return intervalMs !== null && Math.abs(nowMs - scrubbedAtMs) >= intervalMs
}
