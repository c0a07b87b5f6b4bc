import { DAY_MS } from '../foundation/text/times.ts'

interface TimedShape {
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
}

/** How far the times of a disk may be ahead, such as times that were written in another time zone. */
const MAX_AHEAD_MS = DAY_MS

/**
 * Returns the age of the last change by the wall clock, at least 0. If one of the two times is in the future, only the other one counts.
 * If both are, the file counts as new; but if they are further ahead than MAX_AHEAD_MS, their distance counts as its age.
 */
export function ageMsOf({ mtimeNs, ctimeNs }: TimedShape, nowMs: number): number {
  const [mtimeAgo, ctimeAgo] = [nowMs - toMs(mtimeNs), nowMs - toMs(ctimeNs)]
  if (mtimeAgo >= 0 && ctimeAgo >= 0) return Math.min(mtimeAgo, ctimeAgo)
  const ageMs = Math.max(mtimeAgo, ctimeAgo)
  if (ageMs >= 0) return ageMs
  return -ageMs > MAX_AHEAD_MS ? -ageMs : 0
}

function toMs(timeNs: bigint): number {
  return Number(timeNs / 1_000_000n)
}

/** Decides by the times of the file. If they don't show it, the caller must watch the file for `settleMs` (the mirror's `settle`). */
export function isSettled(file: TimedShape, nowMs: number, settleMs: number): boolean {
  return ageMsOf(file, nowMs) >= settleMs
}
