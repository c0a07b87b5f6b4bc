import { DAY_MS } from '../foundation/text/times.ts'

interface TimedShape {
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
}

/** The clock of a disk may be ahead by this, as one in another time zone. */
const MAX_AHEAD_MS = DAY_MS

/**
 * By the wall clock, never below 0. A time in the future says nothing beside one in the past. A file with only future times is new,
 * unless they are beyond MAX_AHEAD_MS.
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

/** By the file's own times; otherwise the caller must watch it for that time (`settle` of the mirror). */
export function isSettled(file: TimedShape, nowMs: number, settleMs: number): boolean {
  return ageMsOf(file, nowMs) >= settleMs
}
