import type { Clock } from '../../foundation/clock.ts'

const REST_PER_READING = 100
const LONGEST_REST_MS = 300_000

/**
 * Returns `read` with a cache: an answer is valid for a hundred times the duration of its reading, at most five minutes.
 * Calls during a reading share its answer. Errors are not cached.
 */
export function cachedReading<T>(read: () => Promise<T>, clock: Clock): () => Promise<T> {
  let kept: { readonly value: Promise<T>; untilMs: number } | undefined
  const readOnce = async (startMs: number) => {
    try {
      const value = await read()
      const endMs = clock.monotonicMs()
      if (kept) kept.untilMs = endMs + Math.min(LONGEST_REST_MS, REST_PER_READING * (endMs - startMs))
      return value
    } catch (error) {
      kept = undefined
      throw error
    }
  }
  return () => {
    const nowMs = clock.monotonicMs()
    if (!kept || nowMs >= kept.untilMs) kept = { value: readOnce(nowMs), untilMs: Number.POSITIVE_INFINITY }
    return kept.value
  }
}
