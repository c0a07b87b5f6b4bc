import { describe, expect, onTestFinished, test } from 'vitest'
import { TemporaryError } from '../../src/foundation/errors.ts'
import { silentLogger } from '../../src/foundation/logger.ts'
import { openStore } from '../../src/store/open-store.ts'
import { keepRetryAfter, recallRetryAfter } from '../../src/sync/kept-retry-after.ts'
import { manualClock } from '../support/manual-clock.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const ORIGIN = 'https://library.example.com'
const HOUR_MS = 3_600_000

/** Processes that follow each other over one store. */
function overOneStore() {
  const store = openStore(temporaryDirectory())
  onTestFinished(() => store[Symbol.dispose]())
  const clock = manualClock()
  const keep = () => keepRetryAfter(store, ORIGIN, clock, silentLogger)
  return {
    clock,
    store,
    keep,
    /** What the next process would wait. */
    restMs: () => Math.max(0, keep().untilMs - clock.monotonicMs()),
  }
}

describe('a pause that the service asked for', () => {
  test('holds for the process that follows', async () => {
    const { clock, store, keep, restMs } = overOneStore()
    keep().record(HOUR_MS)
    await clock.advance(HOUR_MS - 1)
    expect(restMs()).toBe(1)
    expect(recallRetryAfter(store, ORIGIN, clock).untilMs).toBe(HOUR_MS)
    expect(recallRetryAfter(store, 'https://other.example.com', clock).untilMs).toBe(0)
    await clock.advance(1)
    expect(restMs()).toBe(0)
  })

  test('never gets shorter, and never shortens a longer one', async () => {
    const { clock, keep, restMs } = overOneStore()
    const asked = keep()
    asked.record(HOUR_MS)
    asked.record(1_000)
    expect(restMs()).toBe(HOUR_MS)
    keep().record(1_000)
    expect(restMs()).toBe(HOUR_MS)
    await clock.advance(1_000)
    keep().record(HOUR_MS)
    expect(restMs()).toBe(HOUR_MS)
  })

  test.each([
    ['ten years ahead', 10 * 365 * 24 * HOUR_MS, 0],
    ['ten years back', -10 * 365 * 24 * HOUR_MS, 0],
    ['back to just before it', -1_001, 0],
    ['back to just after it', -999, HOUR_MS - 1],
  ])('is not stretched by a clock that jumps: %s', async (_, byMs, expectedMs) => {
    const { clock, keep, restMs } = overOneStore()
    keep().record(HOUR_MS)
    await clock.advance(1_000)
    clock.jump(byMs)
    expect(restMs()).toBe(expectedMs)
  })

  test('is kept for a week at most', () => {
    const { keep, restMs } = overOneStore()
    const asked = keep()
    asked.record(99_999_999_999_000)
    expect(asked.untilMs).toBe(99_999_999_999_000)
    expect(restMs()).toBe(7 * 24 * HOUR_MS)
  })

  test.each(['', 'soon', '1 2 3', '-5 9', '1e9 1e9'])('is none when its note cannot be read: "%s"', (note) => {
    const { store, restMs } = overOneStore()
    store.write(() => store.keyValues.set(`retry-after:${ORIGIN}`, note))
    expect(restMs()).toBe(0)
  })

  test('holds in this process when it cannot be noted', () => {
    const { clock, store } = overOneStore()
    const full = new TemporaryError('disk-full', 'The disk is full')
    const said: string[] = []
    const write = () => {
      throw full
    }
    const logger = { ...silentLogger, warn: (message: string) => void said.push(message) }
    const asked = keepRetryAfter({ ...store, write }, ORIGIN, clock, logger)
    asked.record(HOUR_MS)
    expect(asked.untilMs).toBe(HOUR_MS)
    expect(said).toEqual(['Cannot record how long the service asked to wait; after a restart, requests begin at once'])
  })
})
