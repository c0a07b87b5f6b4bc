import type { Clock } from '../../foundation/clock.ts'

const REST_PER_READING = 100
const LONGEST_REST_MS = 300_000

/** `read`, whose answer is given again until a hundred times as long has passed as reading took, or five minutes. */
export function readSparingly<T>(read: () => T, clock: Clock): () => T {
  let kept: { readonly value: T; readonly untilMs: number } | undefined
  return () => {
    const startMs = clock.monotonicMs()
    if (kept && startMs < kept.untilMs) return kept.value
    const value = read()
    const endMs = clock.monotonicMs()
    kept = { value, untilMs: endMs + Math.min(LONGEST_REST_MS, REST_PER_READING * (endMs - startMs)) }
    return value
  }
}
