import { describe, expect, onTestFinished, test } from 'vitest'
import { TemporaryError } from '../../src/foundation/errors.ts'
import { silentLogger } from '../../src/foundation/logger.ts'
import { keepRetryAfter, parseRetryAfterMs, recallRetryAfter } from '../../src/remote/retry-after.ts'
import { openStore } from '../../src/store/open-store.ts'
import { manualClock } from '../support/manual-clock.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const ORIGIN = 'https://library.example.com'
const HOUR_MS = 3_600_000

/** Successive processes over one store. */
function overOneStore() {
  const store = openStore(temporaryDirectory())
  onTestFinished(() => store[Symbol.dispose]())
  const clock = manualClock()
  const set = (key: string, value: string) => store.write(() => store.keyValues.set(key, value))
  const keep = () => keepRetryAfter({ get: store.keyValues.get, set }, ORIGIN, clock, silentLogger)
  return {
    clock,
    store,
    keep,
    /** Returns how long the next process would wait. */
    remainingMs: () => Math.max(0, keep().endsAtMs - clock.monotonicMs()),
  }
}

describe('a kept Retry-After', () => {
  test('a kept Retry-After holds for the process that follows [P21]', async () => {
    const { clock, store, keep, remainingMs } = overOneStore()
    keep().record(HOUR_MS)
    await clock.advance(HOUR_MS - 1)
    expect(remainingMs()).toBe(1)
    expect(recallRetryAfter(store.keyValues, ORIGIN, clock).endsAtMs).toBe(HOUR_MS)
    expect(recallRetryAfter(store.keyValues, 'https://other.example.com', clock).endsAtMs).toBe(0)
    await clock.advance(1)
    expect(remainingMs()).toBe(0)
  })

  test('a kept Retry-After never gets shorter, and never shortens a longer one', async () => {
    const { clock, keep, remainingMs } = overOneStore()
    const asked = keep()
    asked.record(HOUR_MS)
    asked.record(1_000)
    expect(remainingMs()).toBe(HOUR_MS)
    keep().record(1_000)
    expect(remainingMs()).toBe(HOUR_MS)
    await clock.advance(1_000)
    keep().record(HOUR_MS)
    expect(remainingMs()).toBe(HOUR_MS)
  })

  test.each([
    ['ten years ahead', 10 * 365 * 24 * HOUR_MS, 0],
    ['ten years back', -10 * 365 * 24 * HOUR_MS, 0],
    ['back to just before it', -1_001, 0],
    ['back to just after it', -999, HOUR_MS - 1],
  ])('a kept Retry-After is not extended by a clock that jumps: %s [P20]', async (_, byMs, expectedMs) => {
    const { clock, keep, remainingMs } = overOneStore()
    keep().record(HOUR_MS)
    await clock.advance(1_000)
    clock.jump(byMs)
    expect(remainingMs()).toBe(expectedMs)
  })

  test('a kept Retry-After is whole', () => {
    const { keep, remainingMs } = overOneStore()
    keep().record(1_500.4)
    expect(remainingMs()).toBe(1_500)
  })

  test('a kept Retry-After lasts a week at most', () => {
    const { keep, remainingMs } = overOneStore()
    const asked = keep()
    asked.record(99_999_999_999_000)
    expect(asked.endsAtMs).toBe(99_999_999_999_000)
    expect(remainingMs()).toBe(7 * 24 * HOUR_MS)
  })

  test.each(['', 'soon', '1 2 3', '-5 9', '1e9 1e9'])(
    'a Retry-After that cannot be read is ignored: "%s"',
    (record) => {
      const { store, remainingMs } = overOneStore()
      store.write(() => store.keyValues.set(`retry-after:${ORIGIN}`, record))
      expect(remainingMs()).toBe(0)
    },
  )

  test('a Retry-After that cannot be recorded holds in this process', () => {
    const { clock, store } = overOneStore()
    const full = new TemporaryError('disk-full', 'The disk is full')
    const warnings: string[] = []
    const set = () => {
      throw full
    }
    const logger = { ...silentLogger, warn: (message: string) => void warnings.push(message) }
    const asked = keepRetryAfter({ get: store.keyValues.get, set }, ORIGIN, clock, logger)
    asked.record(HOUR_MS)
    expect(asked.endsAtMs).toBe(HOUR_MS)
    expect(warnings).toEqual([
      'Cannot record how long the service asked to wait; after a restart, requests begin at once',
    ])
  })
})

describe('parseRetryAfterMs', () => {
  const nowMs = Date.parse('2030-01-01T00:00:00Z')

  test.each([
    ['0', 0],
    ['120', 120_000],
    [' 7 ', 7_000],
    ['Tue, 01 Jan 2030 00:00:30 GMT', 30_000],
    ['Tuesday, 01-Jan-30 00:00:30 GMT', 30_000],
    ['Tue Jan  1 00:00:30 2030', 30_000],
    ['Tue, 01 Jan 2019 00:00:00 GMT', 0],
  ])('Retry-After is read as seconds and as a date: %s', (value, expectedMs) => {
    expect(parseRetryAfterMs(value, nowMs)).toBe(expectedMs)
  })

  test.each(['9'.repeat(16), '9'.repeat(30), '9'.repeat(400), 'Tue, 01 Jan 270000 00:00:00 GMT'])(
    'a Retry-After that no clock can hold is a century: %s',
    (value) => {
      const lengthMs = parseRetryAfterMs(value, nowMs) ?? 0
      expect(lengthMs).toBe(36_525 * 24 * HOUR_MS)
      expect(String(lengthMs)).toMatch(/^\d+$/)
    },
  )

  test.each([
    undefined,
    '',
    '-5',
    '1.5',
    'soon',
    '1e3',
    'Tue, nonsense 9',
    'Tue, 01 Nix 2030 00:00:30 GMT',
    '2030-01-01',
  ])('a malformed Retry-After is ignored: %s', (value) => expect(parseRetryAfterMs(value, nowMs)).toBeUndefined())
})
